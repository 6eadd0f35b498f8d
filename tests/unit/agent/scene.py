"""A controller with a scripted model, a real log and a sandbox in memory."""

import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from patchwright.core.agent.agents import AgentDependencies, coder
from patchwright.core.agent.budget import Budget, RunBudget
from patchwright.core.agent.controller import Controller
from patchwright.core.agent.endings import AgentEnding
from patchwright.core.agent.execution import mark_unknown
from patchwright.core.agent.run_log import RunLog, SteeringFilter, ignore_steering
from patchwright.core.condense.condenser import Ask, Condenser, History
from patchwright.core.events.actions import AgentAction, ChangeState, Message
from patchwright.core.events.jsonl import JsonlEventLog
from patchwright.core.events.observations import Condensed, ModelReply, StateChanged
from patchwright.core.events.payload import AgentState, Risk, Source, ToolCall
from patchwright.core.events.state import may_change
from patchwright.core.events.types import Event, Known, Observation
from patchwright.core.llm.model import (
    ChatMessage,
    ModelCapabilities,
    ModelRequest,
    Models,
)
from patchwright.core.security.analyzer import Analyzer, ConfirmPolicy, Verdict
from patchwright.core.types.work import Limits, Usage
from tests.fakes.clock import FakeClock
from tests.fakes.scripted_model import NOTHING_KNOWN, ScriptedModel, Step
from tests.unit.agent.memory_sandbox import MemorySandbox

TASK = "Fix the sum."
FINISH = ModelReply(
    model="scripted",
    tool_calls=(ToolCall(id="last", name="finish", arguments='{"summary": "Done."}'),),
    usage=Usage(cost_usd=0.0, tokens_in=10, tokens_out=5),
)


class Calm:
    """Finds nothing risky, or actions of a kind as risky as it was told."""

    name = "calm"

    def __init__(self, risk: Risk = Risk.LOW, why: str = "", only: str = "") -> None:
        self.risk, self.why, self.only = risk, why, only

    def judge(self, action: AgentAction, claimed: Risk) -> Verdict:
        del claimed
        if self.only not in ("", getattr(action, "kind", "")):
            return Verdict(risk=Risk.LOW)
        return Verdict(risk=self.risk, why=self.why)


class Hang:
    """A step of a model that is not done before it is let go."""

    def __init__(self, then: ModelReply | Exception = FINISH) -> None:
        self.began = threading.Event()
        self._may_go = threading.Event()
        self._then = then

    def release_wait(self) -> None:
        self._may_go.set()

    def __call__(self, _request: ModelRequest) -> ModelReply:
        self.began.set()
        self._may_go.wait()
        if isinstance(self._then, Exception):
            raise self._then
        return self._then


class KeepsAll:
    """Condenses nothing."""

    name = "keeps-all"

    def condense(self, history: History, ask: Ask) -> Condensed | None:
        del history, ask
        return None


@dataclass(frozen=True)
class Scene:
    """One run and everything around it, for a test to look at."""

    controller: Controller
    run_log: RunLog
    dependencies: AgentDependencies
    model: ScriptedModel
    sandbox: MemorySandbox
    log: JsonlEventLog
    clock: FakeClock

    def run(self) -> AgentEnding:
        return self.controller.run()

    @contextmanager
    def running(self) -> Iterator[Future[AgentEnding]]:
        """Run it while the test does something else."""
        with ThreadPoolExecutor(1) as pool:
            yield pool.submit(self.run)

    def next_worker(
        self, hear: SteeringFilter = ignore_steering, **changes: Any
    ) -> "Scene":
        """Take the run up as another worker does, in the sandbox that there is."""
        self.log.append(Source.SYSTEM, StateChanged(state=AgentState.LOADING))
        fresh = {"release_signal": Future(), **changes}
        dependencies = replace(self.dependencies, **fresh)
        run_log = RunLog(self.log, self.run_log.wakeup, hear, start_id=1)
        if dependencies.runtime is not self.dependencies.runtime:
            mark_unknown(run_log, 1)
        controller = Controller(run_log, dependencies)
        return replace(
            self, controller=controller, run_log=run_log, dependencies=dependencies
        )

    def want(self, state: AgentState, digest: str = "") -> None:
        """Ask for a state as a person does through the API."""
        wish = ChangeState(state=state, reason="@alice", digest=digest)
        self.log.append(Source.USER, wish)

    def last(self, kind: str) -> Known:
        payload = self.payloads(kind)[-1].payload
        assert isinstance(payload, Known)
        return payload

    def states(self) -> list[AgentState]:
        """Return the states that the run went through."""
        payloads = [event.payload for event in self.log.read()]
        return [one.state for one in payloads if isinstance(one, StateChanged)]

    def payloads(self, kind: str) -> list[Event]:
        return list(self.log.read(kinds=frozenset({kind})))

    def results(self, call_id: str, agent: str = "") -> list[Observation]:
        """Return what the model was told came of a call."""
        return [
            event.payload
            for event in self.log.read()
            if isinstance(event.payload, Observation)
            and (event.payload.call_id, event.payload.agent) == (call_id, agent)
        ]

    def asked(self) -> list[tuple[ChatMessage, ...]]:
        """Return the messages of each request."""
        return [request.messages for request in self.model.requests]


@contextmanager
def playing(
    folder: Path,
    steps: Iterable[Step],
    *,
    limits: Limits | None = None,
    run_budget: Budget | None = None,
    hear: SteeringFilter = ignore_steering,
    ceiling: float | None = 0.0,
    clock: FakeClock | None = None,
    analyzer: Analyzer | None = None,
    condenser: Condenser | None = None,
    confirm: ConfirmPolicy = "never",
    max_delegate_depth: int = 0,
    capabilities: ModelCapabilities = NOTHING_KNOWN,
) -> Iterator[Scene]:
    """Set the scene: the task is in the log, and nothing has happened yet.

    At its end no state of the run may have followed one that it must not follow.
    """
    clock = clock or FakeClock()
    with (
        JsonlEventLog(folder / "events.jsonl", lambda tree: tree, clock) as log,
        log.listen() as wakeup,
    ):
        log.append(Source.SYSTEM, Message(text=TASK))
        model = ScriptedModel(steps, ceiling=ceiling, capabilities=capabilities)
        sandbox = MemorySandbox()
        dependencies = AgentDependencies(
            agent=coder(),
            models=Models.only(model),
            runtime=sandbox,
            condenser=condenser or KeepsAll(),
            analyzer=analyzer or Calm(),
            limits=limits or Limits(),
            run_budget=run_budget or RunBudget(3.0, refuse_unknown=False),
            clock=clock,
            confirm=confirm,
            max_delegate_depth=max_delegate_depth,
        )
        run_log = RunLog(log, wakeup, hear, start_id=1)
        controller = Controller(run_log, dependencies)
        scene = Scene(controller, run_log, dependencies, model, sandbox, log, clock)
        yield scene
        _followed_the_table(scene)


def _followed_the_table(scene: Scene) -> None:
    for before, after in pairwise([AgentState.LOADING, *scene.states()]):
        assert may_change(before, after), f"from {before} to {after}"


def replies(log: JsonlEventLog) -> list[ModelReply]:
    return [
        event.payload for event in log.read() if isinstance(event.payload, ModelReply)
    ]
