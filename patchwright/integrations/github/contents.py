"""Read single files of a repository, without a checkout."""

from patchwright.core.types.threads import RepoRef
from patchwright.integrations.github.api import Api


def fetch_file(api: Api, repo: RepoRef, path: str, ref: str) -> bytes | None:
    raise NotImplementedError
