"""Decide which commit a run starts from and which branch it may write."""

from patchwright.core.text.names import branch_name
from patchwright.core.types.base import Value
from patchwright.core.types.threads import (
    PullRequest,
    Repository,
    ThreadKind,
    ThreadRef,
)


class Target(Value):
    """Where the work starts and where it goes.

    `start_ref` is fetched and checked out; `branch` is the only one that is written.
    With `moves_branch` it must exist and still be where the work started; otherwise it
    must not exist. `pull_request` is the one that shows the branch already, and
    `own_pull_request` says that it is ours to describe. `note` is for the reader.
    """

    start_ref: str
    base_branch: str
    branch: str
    moves_branch: bool = False
    pull_request: int | None = None
    own_pull_request: bool = False
    opens_pull_request: bool = True
    note: str = ""

    @property
    def trusted_ref(self) -> str:
        """Return the branch that the change is meant for: its instructions count."""
        return f"refs/heads/{self.base_branch}"


def plan_target(
    thread: ThreadRef,
    title: str,
    repository: Repository,
    pull: PullRequest | None,
) -> Target:
    """Choose the target; `pull` is the pull request of the thread or our open one."""
    if pull is None:
        return Target(
            start_ref=f"refs/heads/{repository.default_branch}",
            base_branch=repository.default_branch,
            branch=branch_name(thread.number, title),
        )
    if pull.same_repository:
        return Target(
            start_ref=f"refs/heads/{pull.head_branch}",
            base_branch=pull.base_branch,
            branch=pull.head_branch,
            moves_branch=True,
            pull_request=pull.number,
            own_pull_request=thread.kind is ThreadKind.ISSUE,
            opens_pull_request=False,
        )
    # The branch of a fork is somebody else's; its commits are here under this name.
    # https://docs.github.com/pull-requests/collaborating-with-pull-requests/reviewing-changes-in-pull-requests/checking-out-pull-requests-locally
    return Target(
        start_ref=f"refs/pull/{pull.number}/head",
        base_branch=pull.base_branch,
        branch=branch_name(pull.number, title),
        opens_pull_request=False,
        note="The pull request comes from a fork that we do not write to, so the "
        "change is on a branch of this repository.",
    )
