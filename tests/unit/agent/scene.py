"""A controller with a scripted model, a real log and a sandbox in memory."""

import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from patchwright.core.agent.agents import coder
from patchwright.core.agent.chronicle import Chronicle, Hear, hear_nobody
from patchwright.core.agent.controller import Controller
from patchwright.core.agent.disowning import disown
from patchwright.core.agent.endings import Ending
from patchwright.core.agent.kit import AgentKit
from patchwright.core.agent.purse import Purse, RunPurse
from patchwright.core.condense.condenser import Ask, Condenser, History
from patchwright.core.events.jsonl import JsonlEventLog
from patchwright.core.events.states import may_change
from patchwright.core.events.types import (
    AgentAction,
    AgentState,
    ChangeState,
    Condensed,
    Event,
    Known,
    Message,
    ModelReply,
    Observation,
    Risk,
    Source,
    StateChanged,
    ToolCall,
)
from patchwright.core.llm.model import ChatMessage, ModelRequest, ModelTraits
from patchwright.core.llm.models import Models
from patchwright.core.security.analyzer import Analyzer, Verdict
from patchwright.core.security.policy import Policy
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

    def let_go(self) -> None:
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
    chronicle: Chronicle
    kit: AgentKit
    model: ScriptedModel
    sandbox: MemorySandbox
    log: JsonlEventLog
    clock: FakeClock

    def run(self) -> Ending:
        return self.controller.run()

    @contextmanager
    def running(self) -> Iterator[Future[Ending]]:
        """Run it while the test does something else."""
        with ThreadPoolExecutor(1) as pool:
            yield pool.submit(self.run)

    def next_worker(self, hear: Hear = hear_nobody, **changes: Any) -> "Scene":
        """Take the run up as another worker does, in the sandbox that there is."""
        self.log.append(Source.SYSTEM, StateChanged(state=AgentState.LOADING))
        fresh = {"given_back": Future(), **changes}
        kit = replace(self.kit, **fresh)
        chronicle = Chronicle(self.log, self.chronicle.bell, hear, start_id=1)
        if kit.runtime is not self.kit.runtime:
            disown(chronicle, 1)
        controller = Controller(chronicle, kit)
        return replace(self, controller=controller, chronicle=chronicle, kit=kit)

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
    purse: Purse | None = None,
    hear: Hear = hear_nobody,
    ceiling: float | None = 0.0,
    clock: FakeClock | None = None,
    analyzer: Analyzer | None = None,
    condenser: Condenser | None = None,
    confirm: Policy = "never",
    max_delegate_depth: int = 0,
    traits: ModelTraits = NOTHING_KNOWN,
) -> Iterator[Scene]:
    """Set the scene: the task is in the log, and nothing has happened yet.

    At its end no state of the run may have followed one that it must not follow.
    """
    clock = clock or FakeClock()
    with (
        JsonlEventLog(folder / "events.jsonl", lambda tree: tree, clock) as log,
        log.listen() as bell,
    ):
        log.append(Source.SYSTEM, Message(text=TASK))
        model = ScriptedModel(steps, ceiling=ceiling, traits=traits)
        sandbox = MemorySandbox()
        kit = AgentKit(
            agent=coder(),
            models=Models.only(model),
            runtime=sandbox,
            condenser=condenser or KeepsAll(),
            analyzer=analyzer or Calm(),
            limits=limits or Limits(),
            purse=purse or RunPurse(3.0, refuse_unknown=False),
            clock=clock,
            confirm=confirm,
            max_delegate_depth=max_delegate_depth,
        )
        chronicle = Chronicle(log, bell, hear, start_id=1)
        controller = Controller(chronicle, kit)
        scene = Scene(controller, chronicle, kit, model, sandbox, log, clock)
        yield scene
        _followed_the_table(scene)


def _followed_the_table(scene: Scene) -> None:
    for before, after in pairwise([AgentState.LOADING, *scene.states()]):
        assert may_change(before, after), f"from {before} to {after}"


def replies(log: JsonlEventLog) -> list[ModelReply]:
    return [
        event.payload for event in log.read() if isinstance(event.payload, ModelReply)
    ]
