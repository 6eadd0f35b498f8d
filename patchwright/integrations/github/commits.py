"""Have GitHub make and sign a commit."""

from patchwright.core.forge import NewCommit
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.github.api import Api


def commit_on_branch(api: Api, repo: RepoRef, branch: str, commit: NewCommit) -> str:
    raise NotImplementedError
