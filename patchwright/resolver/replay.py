"""Run a recorded run again: the same model answers, in a fresh sandbox."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from patchwright.core.agent.agents import Agent
from patchwright.core.agent.budget import RunBudget
from patchwright.core.events.log import EventLog
from patchwright.core.events.types import Event
from patchwright.core.knowledge.search import NoKnowledgeLibrary
from patchwright.core.replay.comparison import Comparison, Difference, compare
from patchwright.core.replay.models import ModelRecording, replayed_models
from patchwright.core.replay.recorded_inputs import (
    RecordedAnalyzer,
    RecordedCondenser,
    RecordedKnowledge,
    RecordedMcpServers,
    RecordedReviews,
    ScriptedUser,
    find_depth,
    find_policy,
    find_recorded_inputs,
    find_task,
    has_waited,
)
from patchwright.core.replay.trajectory import find_outcome
from patchwright.core.runtime import RuntimeFactory, SandboxSpec
from patchwright.core.system.clock import Clock
from patchwright.core.types.errors import NotFoundError, SettingsError
from patchwright.core.types.work import Limits, Outcome, Task
from patchwright.integrations.git.bundles import scratch_repository
from patchwright.integrations.git.commits import Signature
from patchwright.integrations.git.objects import ObjectStore
from patchwright.resolver.resolve import resolve
from patchwright.resolver.services import AgentConfiguration, RunDependencies

_AUTHOR: Final = Signature("Patchwright", "patchwright@localhost")
_NO_CHANGE: Final = "no change"


@dataclass(frozen=True)
class ReplayEnvironment:
    """What a replay needs; `spec.run_id` names its sandboxes."""

    repository: ObjectStore
    sandboxes: RuntimeFactory
    spec: SandboxSpec
    log: EventLog
    clock: Clock
    agent: Agent


@dataclass(frozen=True)
class ReplayResult:
    """The result of the replay; `tree` is empty when nothing was changed.

    `served` names the results that were taken from the recording and not repeated.
    """

    events: Sequence[Event]
    outcome: Outcome
    tree: str
    comparison: Comparison
    served: tuple[str, ...]


def replay_run(recorded: Sequence[Event], stage: ReplayEnvironment) -> ReplayResult:
    """Run it again and compare. The repository is only read.

    Raises `SettingsError` if the log has no task, or if the repository does not have
    the base commit.
    """
    task, limits = find_task(recorded)
    _check_base(stage.repository, task.base_sha)
    with scratch_repository(stage.repository.git) as scratch:
        code = ObjectStore(scratch)
        outcome = _resolve(recorded, task, limits, stage, code)
        tree = code.tree_of(outcome.head_sha) if outcome.head_sha else ""
    events = stage.log.read()
    found = compare(recorded, events)
    return ReplayResult(
        events=events,
        outcome=outcome,
        tree=tree,
        comparison=_with_trees(found, recorded, tree, stage.repository),
        served=find_recorded_inputs(recorded),
    )


def _check_base(repository: ObjectStore, base_sha: str) -> None:
    try:
        repository.resolve(base_sha)
    except NotFoundError:
        raise SettingsError(
            f"-C: it does not have the commit {base_sha} that the run began with; "
            "fetch it, or name the repository it was run on"
        ) from None


def _resolve(
    recorded: Sequence[Event],
    task: Task,
    limits: Limits,
    stage: ReplayEnvironment,
    code: ObjectStore,
) -> Outcome:
    """Resolve the task, and continue after each recorded answer of a person."""
    scripted_user = ScriptedUser(stage.log, recorded)
    dependencies = _dependencies(recorded, limits, stage, code, scripted_user)
    resolution = resolve(task, dependencies)
    while resolution.outcome.waits and scripted_user.was_answered:
        resolution = resolve(task, dependencies)
    return resolution.outcome


def _dependencies(
    recorded: Sequence[Event],
    limits: Limits,
    stage: ReplayEnvironment,
    code: ObjectStore,
    scripted_user: ScriptedUser,
) -> RunDependencies:
    model_recording = ModelRecording(recorded, scripted_user.wait_until_accepted)
    library = RecordedKnowledge(recorded)
    configuration = AgentConfiguration(
        agent=stage.agent,
        condenser=RecordedCondenser(model_recording, recorded, stage.log),
        analyzer=RecordedAnalyzer(recorded),
        confirm=find_policy(recorded),
        max_delegate_depth=find_depth(recorded),
    )
    return RunDependencies(
        run_id=stage.spec.run_id,
        models=replayed_models(model_recording),
        sandboxes=stage.sandboxes,
        spec=stage.spec,
        code=code,
        log=scripted_user,
        limits=limits,
        run_budget=RunBudget(limits.max_cost_usd, refuse_unknown=False),
        clock=stage.clock,
        author=_AUTHOR,
        agent_configuration=configuration,
        filter_steering=scripted_user.filter_steering,
        library=library or NoKnowledgeLibrary(),
        open_mcp=lambda _: RecordedMcpServers(recorded),
        checkpoints=_MemoryCheckpoints() if has_waited(recorded) else None,
        recorded_review=RecordedReviews(recorded).next,
    )


class _MemoryCheckpoints:
    """Keeps the work tree while the replayed run waits for its next message."""

    def __init__(self) -> None:
        self._bundle: bytes | None = None

    def save(self, bundle: bytes) -> None:
        self._bundle = bundle

    def load(self) -> bytes | None:
        return self._bundle


def _with_trees(
    found: Comparison, recorded: Sequence[Event], tree: str, repository: ObjectStore
) -> Comparison:
    """Compare the files at the end, byte for byte, and add the result."""
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
    """Return the final tree of the recorded run, or None if it was not stored."""
    outcome = find_outcome(recorded)
    if outcome is None or not outcome.head_sha:
        return ""
    if outcome.tree:
        return outcome.tree
    try:
        return repository.tree_of(repository.resolve(outcome.head_sha))
    except NotFoundError:
        return None
