"""Decide where a run starts, which branch it may write, and if a plan comes first."""

from patchwright.core.agent.prompts import prompt
from patchwright.core.commands import Verb, parse_command
from patchwright.core.settings.repository import RepositoryConfig
from patchwright.core.text.branch_names import branch_name
from patchwright.core.types.base import Value
from patchwright.core.types.threads import (
    PullRequest,
    Repository,
    ThreadRef,
)
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.types.work import Task, TaskMode


class RunTarget(Value):
    """Where the work starts and where it goes.

    `start_ref` is fetched and checked out; `branch` is the only one that is written.
    With `moves_branch` it must exist and still be where the work started; otherwise it
    must not exist. `pull_request` is the one that shows the branch already, and
    `own_pull_request` says that it is ours to describe, and with `sets_metadata` it
    gets the repository's labels and reviewers as well. `fork` is the full name of the
    repository that has the branch, where that is not the base's own. `note` is for the
    reader.
    """

    start_ref: str
    base_branch: str
    branch: str
    moves_branch: bool = False
    pull_request: int | None = None
    own_pull_request: bool = False
    sets_metadata: bool = True
    opens_pull_request: bool = True
    fork: str = ""
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
    *,
    branch: str = "",
    base: str = "",
    is_named: bool = False,
    is_own: bool = False,
) -> RunTarget:
    """Choose the target; `pull` is the pull request of the thread or our open one.

    `branch` is the name for a new branch, and `base` what it starts from, where these
    are not the usual ones. With `is_named` the pull request is somebody's that the
    request is about; with `is_own` it is the thread, and ours.
    """
    new = branch or branch_name(thread.token, title)
    if pull is None:
        return _new_branch_target(new, base or repository.default_branch)
    if not pull.is_open:
        return _new_branch_target(new, pull.base_branch, _CLOSED)
    if pull.same_repository:
        is_thread = thread.kind.is_pull
        own = is_own if is_thread else not is_named
        target = _pull_request_target(pull, f"refs/heads/{pull.head_branch}", own=own)
        # Who asks in the pull request itself has seen who reviews it.
        return target.replace(sets_metadata=not is_thread)
    # The branch of a fork is somewhere else; its commits are here under this name.
    # https://docs.github.com/pull-requests/collaborating-with-pull-requests/reviewing-changes-in-pull-requests/checking-out-pull-requests-locally
    start_ref = repository.forms.head_ref(pull.number)
    if pull.head_repo is not None and pull.maintainers_may_push:
        return _pull_request_target(pull, start_ref, fork=pull.head_repo.full_name)
    return RunTarget(
        start_ref=start_ref,
        base_branch=pull.base_branch,
        branch=new,
        opens_pull_request=False,
        note=_FOREIGN if pull.head_repo is not None else _GONE,
    )


_CLOSED = (
    "The pull request is closed, so the change is a new one that starts from its base."
)
_FOREIGN = (
    "The pull request comes from a fork that we do not write to, so the change is on a "
    "branch of this repository."
)
_GONE = (
    "The repository that the pull request comes from is gone, so the change is on a "
    "branch of this one."
)


def _new_branch_target(branch: str, base: str, note: str = "") -> RunTarget:
    start_ref = f"refs/heads/{base}"
    return RunTarget(start_ref=start_ref, base_branch=base, branch=branch, note=note)


def _pull_request_target(
    pull: PullRequest, start_ref: str, *, fork: str = "", own: bool = False
) -> RunTarget:
    return RunTarget(
        start_ref=start_ref,
        base_branch=pull.base_branch,
        branch=pull.head_branch,
        moves_branch=True,
        pull_request=pull.number,
        own_pull_request=own,
        opens_pull_request=False,
        fork=fork,
    )


def wants_plan(trigger: Trigger, config: RepositoryConfig) -> bool:
    """Tell whether the requester or the repository wants a plan first.

    What the bot's own work has led to belongs to what was approved already.
    """
    if trigger.kind.is_automatic:
        return False
    if config.plan_approval == "comment":
        return True
    if trigger.kind is TriggerKind.REVIEW:
        return False
    command = parse_command(trigger.request)
    return command is not None and command.verb is Verb.PLAN


def plan_first(task: Task) -> Task:
    """Return the task of bringing a plan for it; what the model reads first stays."""
    text = f"{task.text}\n\n{prompt('plan')}"
    return task.replace(text=text, mode=TaskMode.PLAN)
