"""The agent's sandbox with the repository: start it, reuse it, or rebuild it."""

from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from patchwright.core.events.actions import Message, RunCommand
from patchwright.core.events.observations import CheckpointTaken
from patchwright.core.events.payload import Source
from patchwright.core.events.state import RunState
from patchwright.core.runtime import Runtime
from patchwright.core.types.base import RandomIds
from patchwright.core.types.errors import SandboxError
from patchwright.core.types.work import LeftOut, Task
from patchwright.resolver.services import RunDependencies
from patchwright.sandbox.workspace import Export, Workspace

WORK_BRANCH: Final = "work"
CONTEXT_FOLDER: Final = "/workspace/context"
_CHECKPOINT_REF: Final = "checkpoint"

_REBUILT_TEXT: Final = (
    "The sandbox of this run was lost and replaced by a new one. {files} Running "
    "programs, shell variables, installed packages, stashes, other branches and files "
    "outside the repository are gone. Check what you rely on before you continue."
)
_FROM_CHECKPOINT: Final = (
    "The repository is as it was after event {up_to}; later changes are lost."
)
_FROM_BASE: Final = "The repository is as it was at the start of the run."


@dataclass(frozen=True)
class Checkout:
    """A sandbox that the agent can work in.

    With `is_the_same` it is the sandbox in which the run's earlier actions took place.
    `commit` is the commit whose files it has, if it has no others.
    """

    runtime: Runtime
    workspace: Workspace
    is_the_same: bool
    commit: str = ""


def open_checkout(
    task: Task,
    dependencies: RunDependencies,
    *,
    is_resumed: bool,
    is_incomplete: bool,
    before_rebuild: Callable[[], None],
) -> Checkout:
    """Return the sandbox of a run that begins or that is resumed.

    An incomplete sandbox is not reused. `before_rebuild` is called when the earlier
    sandbox of the run is lost. Raises `SandboxError` or `GitError`.
    """
    if is_resumed and not is_incomplete:
        runtime = dependencies.sandboxes.attach(dependencies.spec)
        if runtime is not None:
            return Checkout(runtime, Workspace(runtime, RandomIds()), is_the_same=True)
    if is_resumed:
        before_rebuild()
    # A sandbox that a lost worker began must not be mistaken for this one later.
    dependencies.sandboxes.remove(dependencies.run_id)
    runtime = dependencies.sandboxes.start(dependencies.spec)
    try:
        workspace = _fill_sandbox(runtime, task, dependencies, is_resumed=is_resumed)
    except BaseException:
        runtime.close()
        raise
    # What is restored of earlier work, or merged, is no commit of the repository.
    commit = "" if is_resumed or task.merge_sha else task.base_sha
    return Checkout(runtime, workspace, is_the_same=False, commit=commit)


def save_checkpoint(
    checkout: Checkout,
    task: Task,
    dependencies: RunDependencies,
    up_to: int,
    export: Export | None = None,
) -> None:
    """Save the work tree as it is after the event `up_to`.

    `export` is the exported work tree, if there is one already.
    """
    if export is None:
        export = checkout.workspace.export(task.base_sha)
    if dependencies.checkpoints is not None:
        dependencies.checkpoints.save(export.bundle or b"")
        taken = CheckpointTaken(up_to=up_to, left_out=export.left_out)
        dependencies.log.append(Source.SYSTEM, taken)


def find_earlier_left_out(
    dependencies: RunDependencies, state: RunState
) -> tuple[LeftOut, ...]:
    """Return the files that finished work left out, from the newest checkpoint.

    A work tree that was rebuilt from a checkpoint does not contain these files.
    """
    if not 0 < state.finished_id <= state.checkpoint:
        return ()
    kinds = frozenset({"checkpoint_taken"})
    newest = dependencies.log.read(limit=1, reverse=True, kinds=kinds)
    taken = (one.payload for one in newest)
    found = (one.left_out for one in taken if isinstance(one, CheckpointTaken))
    return next(found, ())


def discard_checkpoint(dependencies: RunDependencies) -> None:
    """Delete the checkpoint: the next worker starts from the base commit again."""
    if dependencies.checkpoints is not None:
        dependencies.checkpoints.save(b"")
        dependencies.log.append(Source.SYSTEM, CheckpointTaken(up_to=0))


def report_rebuilt_sandbox(dependencies: RunDependencies, state: RunState) -> None:
    """Tell the model, and readers of the log, what was lost with the sandbox.

    Nothing was lost if the agent had finished and all of its work was saved.
    """
    if 0 < state.finished_id <= state.checkpoint:
        return
    files = _FROM_BASE
    if state.checkpoint:
        files = _FROM_CHECKPOINT.format(up_to=state.checkpoint)
    dependencies.log.append(
        Source.SYSTEM, Message(text=_REBUILT_TEXT.format(files=files))
    )


def _fill_sandbox(
    runtime: Runtime, task: Task, dependencies: RunDependencies, *, is_resumed: bool
) -> Workspace:
    bundle = (
        dependencies.checkpoints.load()
        if dependencies.checkpoints and is_resumed
        else None
    )
    workspace = (
        _restore(runtime, task, dependencies, bundle)
        if bundle
        else _check_out(runtime, task, dependencies)
    )
    for name, text in task.files.items():
        runtime.upload(f"{CONTEXT_FOLDER}/{name}", text.encode("utf-8", "replace"))
    for name, image in dependencies.images.items():
        picture = b64decode(image.data)
        runtime.upload(f"{CONTEXT_FOLDER}/images/{name}", picture)
    return workspace


def _check_out(
    runtime: Runtime, task: Task, dependencies: RunDependencies
) -> Workspace:
    base = task.base_sha
    workspace = _unpack(runtime, task, dependencies, base)
    if task.merge_sha:
        workspace.begin_merge(task.merge_sha)
    return workspace


def _restore(
    runtime: Runtime, task: Task, dependencies: RunDependencies, bundle: bytes
) -> Workspace:
    """Restore the work tree from the bundle, as changes that are not committed."""
    base = task.base_sha
    head = dependencies.code.take(
        bundle, base, f"{dependencies.run_id}-{_CHECKPOINT_REF}"
    )
    workspace = _unpack(runtime, task, dependencies, head)
    _run_command(runtime, f"git reset --quiet {base}")
    if task.merge_sha:
        workspace.mark_merge(task.merge_sha)
    return workspace


def _unpack(
    runtime: Runtime, task: Task, dependencies: RunDependencies, head: str
) -> Workspace:
    """Check out a commit with as much of its history as the code's repository has."""
    also, base = ((task.merge_sha,) if task.merge_sha else ()), task.base_sha
    packed = dependencies.code.bundle(head, also=also, base=base)
    ends = dependencies.code.find_ends(head, also, base)
    return Workspace.check_out(runtime, packed, head, WORK_BRANCH, shallow=ends)


def _run_command(runtime: Runtime, command: str) -> None:
    action = RunCommand(command=command, session="patchwright")
    output = runtime.run(action, RandomIds().new())
    if getattr(output, "exit_code", 1) != 0:
        raise SandboxError(f"the work tree could not be restored: {output}")
