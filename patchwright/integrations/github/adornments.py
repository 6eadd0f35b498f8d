"""Put reviewers, labels, assignees and milestone on a pull request."""

from patchwright.core.forge import Adornment
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.github.api import Api


def adorn(
    api: Api, repo: RepoRef, number: int, adornment: Adornment
) -> tuple[str, ...]:
    raise NotImplementedError


def request_review(
    api: Api, repo: RepoRef, number: int, reviewers: tuple[str, ...]
) -> None:
    raise NotImplementedError
