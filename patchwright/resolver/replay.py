"""Run a recorded run again: the same words of the model, in a fresh sandbox."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from patchwright.core.agent.agents import Agent
from patchwright.core.agent.purse import RunPurse
from patchwright.core.agent.results import LEFT_OUT
from patchwright.core.clock import Clock
from patchwright.core.errors import NotFoundError, SettingsError
from patchwright.core.events.log import EventLog
from patchwright.core.events.types import ErrorObservation, Event
from patchwright.core.knowledge.library import NoLibrary
from patchwright.core.llm.replayed import replayed_models
from patchwright.core.llm.tape import Tape
from patchwright.core.runtime import RuntimeFactory, SandboxSpec
from patchwright.core.trajectory.compare import Comparison, Difference, compare
from patchwright.core.trajectory.demands import (
    find_depth,
    find_policy,
    find_served,
    find_task,
    has_waited,
)
from patchwright.core.trajectory.document import find_outcome
from patchwright.core.trajectory.prompter import Prompter
from patchwright.core.trajectory.served import (
    RecordedAnalyzer,
    RecordedCondenser,
    RecordedLibrary,
    RecordedServers,
)
from patchwright.core.types.work import Limits, Outcome, Task
from patchwright.integrations.git.grafts import Signature
from patchwright.integrations.git.objects import ObjectStore
from patchwright.integrations.git.scratch import borrow
from patchwright.resolver.resolve import resolve
from patchwright.resolver.toolkit import Conduct, Toolkit

_AUTHOR: Final = Signature("Patchwright", "patchwright@localhost")
_NO_CHANGE: Final = "no change"


@dataclass(frozen=True)
class Stage:
    """Where a run is run again; `spec.run_id` names its sandboxes."""

    repository: ObjectStore
    sandboxes: RuntimeFactory
    spec: SandboxSpec
    log: EventLog
    clock: Clock
    agent: Agent


@dataclass(frozen=True)
class Rerun:
    """What came of it the second time; `tree` is empty when nothing was changed.

    `served` names what was taken from the recording instead of being done again.
    """

    events: Sequence[Event]
    outcome: Outcome
    tree: str
    comparison: Comparison
    served: tuple[str, ...]


def rerun(recorded: Sequence[Event], stage: Stage) -> Rerun:
    """Run it again and compare. The repository is only read.

    Raises `SettingsError` when the log does not say what was to be done, or when the
    repository does not have the commit it was done to.
    """
    task, limits = find_task(recorded)
    _check_base(stage.repository, task.base_sha)
    with borrow(stage.repository.git) as scratch:
        code = ObjectStore(scratch)
        outcome = _resolve(recorded, task, limits, stage, code)
        tree = code.tree_of(outcome.head_sha) if outcome.head_sha else ""
    events = stage.log.read()
    found = compare(recorded, events)
    return Rerun(
        events=events,
        outcome=outcome,
        tree=tree,
        comparison=_with_trees(found, recorded, tree, stage.repository),
        served=find_served(recorded),
    )


def _check_base(repository: ObjectStore, base_sha: str) -> None:
    try:
        repository.resolve(base_sha)
    except NotFoundError:
        raise SettingsError(
            f"--repo: it does not have the commit {base_sha} that the run began with; "
            "fetch it, or name the repository it was run on"
        ) from None


def _resolve(
    recorded: Sequence[Event],
    task: Task,
    limits: Limits,
    stage: Stage,
    code: ObjectStore,
) -> Outcome:
    """Resolve the task, and go on as often as somebody has said something then."""
    prompter = Prompter(stage.log, recorded)
    kit = _kit(recorded, limits, stage, code, prompter)
    resolution = resolve(task, kit)
    while resolution.outcome.waits and prompter.was_answered:
        resolution = resolve(task, kit)
    return resolution.outcome


def _kit(
    recorded: Sequence[Event],
    limits: Limits,
    stage: Stage,
    code: ObjectStore,
    prompter: Prompter,
) -> Toolkit:
    tape = Tape(recorded, prompter.wait_until_heard)
    library = RecordedLibrary(recorded)
    conduct = Conduct(
        agent=stage.agent,
        condenser=RecordedCondenser(tape, recorded, stage.log),
        analyzer=RecordedAnalyzer(recorded),
        confirm=find_policy(recorded),
        max_delegate_depth=find_depth(recorded),
    )
    return Toolkit(
        run_id=stage.spec.run_id,
        models=replayed_models(tape),
        sandboxes=stage.sandboxes,
        spec=stage.spec,
        code=code,
        log=prompter,
        limits=limits,
        purse=RunPurse(limits.max_cost_usd, refuse_unknown=False),
        clock=stage.clock,
        author=_AUTHOR,
        agent_configuration=conduct,
        hear=prompter.filter_steering,
        library=library or NoLibrary(),
        open_mcp=lambda _: RecordedServers(recorded),
        checkpoints=_MemoryCheckpoints() if has_waited(recorded) else None,
        tells_left_out=_was_told(recorded),
    )


def _was_told(recorded: Sequence[Event]) -> bool:
    """Say whether the agent heard what its change would lack; older runs did not."""
    payloads = (event.payload for event in recorded)
    return any(
        isinstance(one, ErrorObservation) and one.reason == LEFT_OUT for one in payloads
    )


class _MemoryCheckpoints:
    """Keeps the work tree while the replayed run waits for its next word."""

    def __init__(self) -> None:
        self._bundle: bytes | None = None

    def save(self, bundle: bytes) -> None:
        self._bundle = bundle

    def load(self) -> bytes | None:
        return self._bundle


def _with_trees(
    found: Comparison, recorded: Sequence[Event], tree: str, repository: ObjectStore
) -> Comparison:
    """Add whether the files at the end are the same, byte for byte."""
    then = _recorded_tree(recorded, repository)
    if then is None:
        note = "What the recorded run changed is not in this repository."
        return found.replace(notes=(*found.notes, note))
    if then == tree:
        return found
    parted = Difference(
        what="tree", recorded=then or _NO_CHANGE, rerun=tree or _NO_CHANGE
    )
    return found.replace(differences=(*found.differences, parted))


def _recorded_tree(recorded: Sequence[Event], repository: ObjectStore) -> str | None:
    """Return the tree that the run ended with, or None if nobody knows it any more."""
    outcome = find_outcome(recorded)
    if outcome is None or not outcome.head_sha:
        return ""
    if outcome.tree:
        return outcome.tree
    try:
        return repository.tree_of(repository.resolve(outcome.head_sha))
    except NotFoundError:
        return None
