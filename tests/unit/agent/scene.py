"""A controller with a scripted model, a real log and a sandbox in memory."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from patchwright.core.agent.agents import coder
from patchwright.core.agent.chronicle import Chronicle, Hear, hear_nobody
from patchwright.core.agent.controller import Controller
from patchwright.core.agent.endings import Ending
from patchwright.core.agent.kit import AgentKit, Confirm
from patchwright.core.agent.purse import Purse, RunPurse
from patchwright.core.condense.condenser import Ask, Condenser, History
from patchwright.core.events.jsonl import JsonlEventLog
from patchwright.core.events.types import (
    AgentAction,
    Condensed,
    Event,
    Message,
    ModelReply,
    Observation,
    Risk,
    Source,
    ToolCall,
)
from patchwright.core.llm.model import ChatMessage
from patchwright.core.llm.models import Models
from patchwright.core.llm.scripted import ScriptedModel, Step
from patchwright.core.security.analyzer import Analyzer, Verdict
from patchwright.core.types.work import Limits, Usage
from tests.fakes.clock import FakeClock
from tests.unit.agent.memory_sandbox import MemorySandbox

TASK = "Fix the sum."
FINISH = ModelReply(
    model="scripted",
    tool_calls=(ToolCall(id="last", name="finish", arguments='{"summary": "Done."}'),),
    usage=Usage(cost_usd=0.0, tokens_in=10, tokens_out=5),
)


class Calm:
    """Finds nothing risky, or everything as risky as it was told."""

    name = "calm"

    def __init__(self, risk: Risk = Risk.LOW) -> None:
        self.risk = risk

    def judge(self, action: AgentAction, claimed: Risk) -> Verdict:
        del action, claimed
        return Verdict(risk=self.risk)


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

    def payloads(self, kind: str) -> list[Event]:
        return list(self.log.read(kinds=frozenset({kind})))

    def results(self, call_id: str) -> list[Observation]:
        """Return what the model was told came of a call."""
        return [
            event.payload
            for event in self.log.read()
            if isinstance(event.payload, Observation)
            and event.payload.call_id == call_id
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
    confirm: Confirm = "never",
    max_delegate_depth: int = 0,
) -> Iterator[Scene]:
    """Set the scene: the task is in the log, and nothing has happened yet."""
    clock = clock or FakeClock()
    with (
        JsonlEventLog(folder / "events.jsonl", lambda tree: tree, clock) as log,
        log.listen() as bell,
    ):
        log.append(Source.SYSTEM, Message(text=TASK))
        model, sandbox = ScriptedModel(steps, ceiling=ceiling), MemorySandbox()
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
        yield Scene(Controller(chronicle, kit), chronicle, kit, model, sandbox, log, clock)


def replies(log: JsonlEventLog) -> list[ModelReply]:
    return [
        event.payload for event in log.read() if isinstance(event.payload, ModelReply)
    ]
