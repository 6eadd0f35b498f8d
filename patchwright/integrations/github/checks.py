"""Read how the checks of a commit stand, and what the failed ones printed."""

from patchwright.core.forge import Checks
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.github.api import Api


def fetch_checks(api: Api, repo: RepoRef, sha: str) -> Checks:
    raise NotImplementedError
