"""What a run reads of a forge; the forges of a run write each in a way of its own."""

from dataclasses import dataclass

from patchwright.core.forge import Checks, Forge, GitCredential, CompetingPullRequest
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import PullRequest, RepoRef, Repository


@dataclass(frozen=True)
class ForgeReader:
    """The half of a `Forge` that changes nothing there, passed on as it is."""

    real: Forge

    def fetch_permission(self, repo: RepoRef, actor: Actor) -> Permission:
        return self.real.fetch_permission(repo, actor)

    def fetch_repository(self, repo: RepoRef) -> Repository:
        return self.real.fetch_repository(repo)

    def fetch_pull_request(self, repo: RepoRef, number: int) -> PullRequest:
        return self.real.fetch_pull_request(repo, number)

    def mint_credential(self, repo: RepoRef) -> GitCredential:
        return self.real.mint_credential(repo)

    def find_pull_request(self, repo: RepoRef, head_branch: str) -> PullRequest | None:
        return self.real.find_pull_request(repo, head_branch)

    def fetch_file(self, repo: RepoRef, path: str, ref: str = "") -> bytes | None:
        return self.real.fetch_file(repo, path, ref)

    def has_branch(self, repo: RepoRef, branch: str) -> bool:
        return self.real.has_branch(repo, branch)

    def fetch_commit_message(self, repo: RepoRef, sha: str) -> str | None:
        return self.real.fetch_commit_message(repo, sha)

    def fetch_change_requesters(self, repo: RepoRef, number: int) -> tuple[str, ...]:
        return self.real.fetch_change_requesters(repo, number)

    def fetch_competing_pulls(self, repo: RepoRef, issue: int) -> tuple[CompetingPullRequest, ...]:
        return self.real.fetch_competing_pulls(repo, issue)

    def fetch_checks(self, repo: RepoRef, sha: str) -> Checks:
        return self.real.fetch_checks(repo, sha)

    def fetch_milestone(self, repo: RepoRef, issue: int) -> int | None:
        return self.real.fetch_milestone(repo, issue)
