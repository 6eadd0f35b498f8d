"""The protocol of a service where code lives."""

from typing import Protocol

from pydantic import SecretStr

from patchwright.core.types.base import Value
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import PullRequest, RepoRef, Repository


class GitCredential(Value):
    """What git needs over HTTPS, minted when asked for; never enters a sandbox."""

    username: str
    token: SecretStr


class PullRequestText(Value):
    """What a pull request says, and whether it asks to be merged yet."""

    title: str
    body: str
    draft: bool


class Forge(Protocol):
    """Judges people, hands out credentials for git, and keeps pull requests.

    Every call raises a `ServiceError` of `core.errors` and none of a vendor's.
    """

    def fetch_permission(self, repo: RepoRef, actor: Actor) -> Permission:
        """Return what the actor may do there; whoever is not known may do nothing."""
        ...

    def fetch_repository(self, repo: RepoRef) -> Repository: ...

    def fetch_pull_request(self, repo: RepoRef, number: int) -> PullRequest: ...

    def mint_credential(self, repo: RepoRef) -> GitCredential: ...

    def find_pull_request(self, repo: RepoRef, head_branch: str) -> PullRequest | None:
        """Return the open pull request from that branch of the same repository."""
        ...

    def open_pull_request(
        self, repo: RepoRef, head_branch: str, base_branch: str, text: PullRequestText
    ) -> PullRequest: ...

    def update_pull_request(
        self, repo: RepoRef, number: int, text: PullRequestText
    ) -> PullRequest: ...
