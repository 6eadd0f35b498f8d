"""The protocol of a service where code lives."""

from datetime import datetime
from enum import StrEnum
from typing import Protocol, TypeVar

from pydantic import SecretStr

from patchwright.core.types.base import Value
from patchwright.core.types.errors import InvalidRequestError
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import (
    ForgeThread,
    PullRequest,
    RepoRef,
    Repository,
    ThreadKind,
)


class GitCredential(Value):
    """What git needs over HTTPS, minted when asked for; never enters a sandbox."""

    username: str
    token: SecretStr


class PullRequestText(Value):
    """What a pull request says, and whether it asks to be merged yet."""

    title: str
    body: str
    draft: bool


class PullMetadata(Value):
    """What is put on a pull request besides its text.

    `reviewers` are logins, or `team/NAME` for a team. `milestone` is its number, None
    to leave it as it is.
    """

    labels: tuple[str, ...] = ()
    assignees: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    milestone: int | None = None


class FailedCheck(Value):
    """A check that failed on a commit; `log` is the end of what it printed."""

    name: str
    url: str = ""
    summary: str = ""
    log: str = ""


class Checks(Value):
    """How the checks of a commit stand; `pending` are the names of unfinished ones."""

    failed: tuple[FailedCheck, ...] = ()
    pending: tuple[str, ...] = ()


class CompetingPullRequest(Value):
    """An open pull request of somebody else that says it closes an issue."""

    number: int
    url: str
    author: str
    kind: ThreadKind = ThreadKind.PULL_REQUEST

    @property
    def name(self) -> str:
        return f"{self.kind.mark}{self.number}"


class CheckState(StrEnum):
    IN_PROGRESS = "in_progress"
    SUCCESS = "success"
    NEUTRAL = "neutral"
    FAILURE = "failure"
    ACTION_REQUIRED = "action_required"
    CANCELLED = "cancelled"


class CheckReport(Value):
    """What we say about a commit in its list of checks; `key` finds it again."""

    key: str
    title: str
    summary: str
    state: CheckState
    url: str = ""
    at: datetime


class FileChange(Value):
    """One file of a commit; without `data` it is removed."""

    path: str
    data: bytes | None


class NewCommit(Value):
    """A commit for the forge to make: `changes` to the files of `base_sha`.

    `tree` is git's name for what it must hold in the end.
    """

    base_sha: str
    tree: str
    message: str
    changes: tuple[FileChange, ...]


class Forge(Protocol):
    """Answers who may do what, provides credentials for git, and manages pull requests.

    What not every forge has is a capability of its own, which is absent unless a class
    that derives from this one has it. Every call raises a `ServiceError` of
    `core.types.errors` and none of a vendor's.
    """

    def fetch_permission(self, repo: RepoRef, actor: Actor) -> Permission:
        """Return what the actor may do there; an unknown actor may do nothing."""
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

    def fetch_file(self, repo: RepoRef, path: str, ref: str = "") -> bytes | None:
        """Return a file of a branch or commit, by default the default branch's.

        None means that there is no such file.
        """
        ...

    def has_branch(self, repo: RepoRef, branch: str) -> bool: ...

    @property
    def checks(self) -> "ForgeChecks | None":
        """Return the checks of commits, None where the forge has none."""
        return None

    @property
    def pull_metadata(self) -> "ForgePullMetadata | None":
        return None

    @property
    def commits(self) -> "ForgeCommits | None":
        return None


class ForgeChecks(Protocol):
    """What stands beside a commit: how it was tested, by us and by others."""

    def fetch_checks(self, repo: RepoRef, sha: str) -> Checks:
        """Return how the checks of a commit stand, our own left out."""
        ...

    def report_check(self, repo: RepoRef, sha: str, report: CheckReport) -> None:
        """Show a report on a commit, in place of the earlier one with that key."""
        ...


class ForgePullMetadata(Protocol):
    """What stands beside a pull request: labels, people, milestones, links."""

    def set_pull_metadata(
        self, repo: RepoRef, number: int, pull_metadata: PullMetadata
    ) -> tuple[str, ...]:
        """Add what is missing; return what the forge refused, a sentence each."""
        ...

    def fetch_milestone(self, repo: RepoRef, issue: int) -> int | None:
        """Return the number of an issue's milestone, if it has one."""
        ...

    def request_review(
        self, repo: RepoRef, number: int, reviewers: tuple[str, ...]
    ) -> None: ...

    def fetch_change_requesters(self, repo: RepoRef, number: int) -> tuple[str, ...]:
        """Return the people whose last word on a pull request is to change it."""
        ...

    def fetch_competing_pulls(
        self, repo: RepoRef, issue: int
    ) -> tuple[CompetingPullRequest, ...]:
        """Return the open pull requests of other people that close an issue."""
        ...


class ForgeCommits(Protocol):
    """Commits that the forge reads, or makes and signs, by itself."""

    def fetch_commit_message(self, repo: RepoRef, sha: str) -> str | None:
        """Return what a commit says, or None if there is no such commit."""
        ...

    def commit_on_branch(self, repo: RepoRef, branch: str, commit: NewCommit) -> str:
        """Let the forge make, sign and push a commit; return its id.

        The branch is created if it is missing. Raises `BranchMovedError` if it has
        moved, and `CommitDiffersError` if the commit has another tree.
        """
        ...


class Reviews(Protocol):
    """What people say on lines of a pull request, and our answers to it.

    Every call raises a `ServiceError` of `core.types.errors` and none of a vendor's.
    """

    def answer_review(self, ref: ForgeThread, review_thread: str, text: str) -> str:
        """Add a post to a review thread and return its id."""
        ...

    def find_review_answer(
        self, ref: ForgeThread, review_thread: str, mark: str
    ) -> str | None:
        """Return the id of our first own post there that contains `mark`."""
        ...

    def delete_review_answer(self, ref: ForgeThread, answer: str) -> None:
        """Take back our own post in a review thread."""
        ...

    def resolve_review(self, ref: ForgeThread, review_thread: str) -> None:
        """Mark a review thread as settled."""
        ...


Capability = TypeVar("Capability")


def require_capability(found: Capability | None) -> Capability:
    """Return what the forge has; `InvalidRequestError` where it has no such thing."""
    if found is None:
        raise InvalidRequestError("the forge has no such thing")
    return found
