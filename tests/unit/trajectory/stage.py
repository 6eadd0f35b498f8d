"""A run in memory, recorded, and run again from its recording."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from patchwright.core.agent.agents import AgentDependencies, coder
from patchwright.core.agent.budget import RunBudget
from patchwright.core.agent.controller import Controller
from patchwright.core.agent.endings import AgentEnding
from patchwright.core.agent.run_log import RunLog, SteeringFilter, ignore_steering
from patchwright.core.condense.condenser import Condenser
from patchwright.core.condense.condensers import NoCondenser
from patchwright.core.events.actions import AgentAction, Message
from patchwright.core.events.jsonl import JsonlEventLog
from patchwright.core.events.log import EventLog
from patchwright.core.events.observations import ModelReply, OutcomeReached, RunStarted
from patchwright.core.events.payload import Risk, Source
from patchwright.core.events.types import Event, Known
from patchwright.core.llm.model import ModelRequest, Models
from patchwright.core.mcp import McpServers, NoMcpServers
from patchwright.core.replay.models import ModelRecording, replayed_models
from patchwright.core.replay.recorded_inputs import (
    RecordedAnalyzer,
    RecordedCondenser,
    RecordedMcpServers,
    ScriptedUser,
    find_depth,
    find_policy,
)
from patchwright.core.security.analyzer import Analyzer, ConfirmPolicy, Verdict
from patchwright.core.types.work import Limits, Outcome
from tests.fakes.clock import FakeClock
from tests.fakes.scripted_model import ScriptedModel, Step
from tests.unit.agent.memory_sandbox import MemorySandbox
from tests.unit.trajectory.recorded import TASK

LIMITS = Limits(max_iterations=12)
# Says something to a run that waits, and tells whether it did.
Answer = Callable[[EventLog], bool]


class Careful:
    """Finds every echo risky, and nothing else."""

    name = "careful"

    def judge(self, action: AgentAction, claimed: Risk) -> Verdict:
        del claimed
        is_risky = "echo" in action.model_dump_json()
        return Verdict(risk=Risk.HIGH if is_risky else Risk.LOW)


def nobody(log: EventLog) -> bool:
    """Leave a run that waits alone."""
    del log
    return False


@dataclass(frozen=True)
class Play:
    """What a run is made of: the model's words, and what people answer."""

    models: Models
    hear: SteeringFilter = ignore_steering
    answer: Answer = nobody
    condenser: Condenser = field(default_factory=NoCondenser)
    analyzer: Analyzer = field(default_factory=Careful)
    mcp: McpServers = field(default_factory=NoMcpServers)
    confirm: ConfirmPolicy = "never"
    depth: int = 1


def record(folder: Path, play: Callable[[EventLog], Play]) -> list[Event]:
    """Run it, and return what was written down."""
    with open_log(folder / "recorded.jsonl") as log:
        perform(log, play(log))
        return list(log.read())


def record_steps(folder: Path, steps: Iterable[Step]) -> list[Event]:
    """Run a script in which nobody says anything."""
    return record(folder, lambda _: Play(Models.only(ScriptedModel(steps))))


def repeat(folder: Path, recorded: Sequence[Event]) -> list[Event]:
    """Run it again, from nothing but what was written down."""
    with open_log(folder / "repeated.jsonl") as log:
        scripted_user = ScriptedUser(log, recorded)
        model_recording = ModelRecording(recorded, scripted_user.wait_until_accepted)
        play = Play(
            models=replayed_models(model_recording),
            hear=scripted_user.filter_steering,
            answer=lambda _: scripted_user.was_answered,
            condenser=RecordedCondenser(model_recording, recorded, log),
            analyzer=RecordedAnalyzer(recorded),
            mcp=RecordedMcpServers(recorded),
            confirm=find_policy(recorded),
            depth=find_depth(recorded),
        )
        perform(scripted_user, play)
        return list(log.read())


def perform(log: EventLog, play: Play) -> None:
    """Run until it ends, or until nobody answers any more."""
    dependencies = AgentDependencies(
        agent=coder(),
        models=play.models,
        runtime=MemorySandbox(),
        condenser=play.condenser,
        analyzer=play.analyzer,
        limits=LIMITS,
        run_budget=RunBudget(LIMITS.max_cost_usd, refuse_unknown=False),
        clock=FakeClock(),
        confirm=play.confirm,
        mcp=play.mcp,
        max_delegate_depth=play.depth,
    )
    log.append(Source.SYSTEM, RunStarted(run_id="run-1", task=TASK, limits=LIMITS))
    log.append(Source.SYSTEM, Message(text=TASK.text))
    ending = _attempt(log, dependencies, play.hear)
    while ending.waits_as is not None and play.answer(log):
        ending = _attempt(log, dependencies, play.hear)


def _attempt(
    log: EventLog, dependencies: AgentDependencies, hear: SteeringFilter
) -> AgentEnding:
    with log.listen() as wakeup:
        run_log = RunLog(log, wakeup, hear, 1)
        controller = Controller(run_log, dependencies)
        ending = controller.run()
        controller.close()
    outcome = Outcome(
        kind=ending.kind, reason=ending.reason, waits=ending.waits_as is not None
    )
    log.append(Source.SYSTEM, OutcomeReached(outcome=outcome))
    return ending


def open_log(path: Path) -> JsonlEventLog:
    return JsonlEventLog(path, lambda tree: tree, FakeClock())


def while_asked(log: EventLog, words: Known, then: ModelReply) -> Step:
    """Return a step of a model during which somebody speaks."""

    def step(request: ModelRequest) -> ModelReply:
        del request
        log.append(Source.USER, words)
        return then

    return step
