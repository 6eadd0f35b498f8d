"""Show how a run goes in the list of checks of a commit."""

from patchwright.core.forge import CheckReport
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.github.api import Api


def report_check(api: Api, repo: RepoRef, sha: str, report: CheckReport) -> None:
    raise NotImplementedError
