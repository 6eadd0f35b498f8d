"""One run that many workers take up, each where the one before was lost."""

import json
import threading
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from patchwright.core.agent.agents import AgentDependencies, coder
from patchwright.core.agent.budget import RunBudget
from patchwright.core.agent.controller import Controller
from patchwright.core.agent.endings import AgentEnding
from patchwright.core.agent.execution import mark_unknown
from patchwright.core.agent.run_log import RunLog
from patchwright.core.agent.view import observation_text
from patchwright.core.events.actions import ChangeState, Delegate, Message, RunCommand
from patchwright.core.events.jsonl import JsonlEventLog
from patchwright.core.events.observations import (
    ErrorObservation,
    ModelReply,
    StateChanged,
)
from patchwright.core.events.payload import AgentState, Source
from patchwright.core.events.state import may_change
from patchwright.core.events.types import Event, Observation
from patchwright.core.llm.model import ModelRequest, Models
from patchwright.core.llm.wire import wire_messages, wire_tools, with_all_results
from patchwright.core.types.work import Limits
from tests.fakes.clock import FakeClock
from tests.fakes.llm.rules import find_fault
from tests.invariants.mortal import (
    Fate,
    KilledError,
    MortalLog,
    MortalModel,
    MortalSandbox,
)
from tests.invariants.scripts import (
    DEEPEST,
    TASK,
    CountsReplies,
    Plan,
    next_reply,
    plans_by_task,
    task_of,
)
from tests.unit.agent.memory_sandbox import MemorySandbox
from tests.unit.agent.scene import Calm

UNKNOWN: Final = "?"
LIMITS: Final = Limits(max_iterations=10_000)


@dataclass(frozen=True)
class Step:
    """A reply of an agent, and what it was told of each call, UNKNOWN for lost ones."""

    text: str
    results: tuple[tuple[str, str], ...]

    def tells_as(self, other: "Step") -> bool:
        """Tell whether both say the same, where anything is known at all."""
        if self.text != other.text or len(self.results) != len(other.results):
            return False
        pairs = zip(self.results, other.results, strict=True)
        return all(a == b or UNKNOWN in (a[1], b[1]) for a, b in pairs)


class ResumedRun:
    """The log, the sandboxes and what the model was asked, whoever works."""

    def __init__(self, folder: Path, plan: Plan, context_window: int | None) -> None:
        self._clock = FakeClock()
        self.log = JsonlEventLog(
            folder / "events.jsonl", lambda tree: tree, self._clock
        )
        self.log.append(Source.SYSTEM, Message(text=TASK))
        self.plans = plans_by_task(plan)
        self.context_window = context_window
        self.sandboxes = [MemorySandbox()]
        self._is_lost = False
        self._asked: dict[tuple[str, int], list[bytes]] = {}

    def close(self) -> None:
        self.log.__exit__()

    def speak(self) -> None:
        """Have a person say something that is repeated to the model."""
        self.log.append(Source.USER, Message(text="By the way."))

    def want(self, state: AgentState) -> None:
        self.log.append(Source.USER, ChangeState(state=state))

    def lose_sandbox(self) -> None:
        self._is_lost = True

    def work(self, fate: Fate) -> AgentEnding | None:
        """Let one worker do what it can; None means that it was killed."""
        try:
            with self.log.listen() as wakeup:
                return self._work(MortalLog(self.log, fate), wakeup, fate)
        except KilledError:
            return None

    def _work(self, log: MortalLog, wakeup: threading.Event, fate: Fate) -> AgentEnding:
        log.append(Source.SYSTEM, StateChanged(state=AgentState.LOADING))
        run_log = RunLog(log, wakeup, _repeat, 1)
        if self._is_lost:
            mark_unknown(run_log, 1)
            fate.meet()
            self.sandboxes.append(MemorySandbox())
            self._is_lost = False
        model = MortalModel(self._answer, fate, self.context_window)
        dependencies = AgentDependencies(
            agent=coder(),
            models=Models.only(model),
            runtime=MortalSandbox(self.sandboxes[-1], fate),
            condenser=CountsReplies(),
            analyzer=Calm(),
            limits=LIMITS,
            run_budget=RunBudget(1.0, refuse_unknown=False),
            clock=self._clock,
            max_delegate_depth=DEEPEST,
            after_step=fate.meet,
        )
        return Controller(run_log, dependencies).run()

    def _answer(self, request: ModelRequest) -> ModelReply:
        """Look at a request as a strict provider does, and answer."""
        assert with_all_results(request.messages) == list(request.messages)
        wired = wire_messages(request.messages, "openai/gpt", cache_marks=False)
        body = {
            "model": "openai/gpt",
            "messages": wired,
            "tools": wire_tools(request.tools),
        }
        assert find_fault(body, frozenset()) is None
        self._compare_with_the_one_before(
            request, [json.dumps(m).encode() for m in wired]
        )
        return next_reply(request, self.plans)

    def _compare_with_the_one_before(
        self, request: ModelRequest, wired: list[bytes]
    ) -> None:
        condensed = len(self.log.read(kinds=frozenset({"condensed"})))
        key = task_of(request), condensed
        before = self._asked.get(key, [])
        assert wired[: len(before)] == before
        self._asked[key] = wired

    def times_run(self) -> Counter[str]:
        """Return how often each command was run, in whichever sandbox."""
        return Counter(
            action.command
            for sandbox in self.sandboxes
            for action in sandbox.ran
            if isinstance(action, RunCommand)
        )

    def transcripts(self) -> dict[str, list[Step]]:
        """Return what each agent said and was told, by its task."""
        events = self.log.read()
        tasks = {"": TASK} | {
            str(event.id): event.payload.task
            for event in events
            if isinstance(event.payload, Delegate)
        }
        by_agent: defaultdict[str, list[Event]] = defaultdict(list)
        for event in events:
            by_agent[event.payload.agent].append(event)
        return {tasks[agent]: _steps(own) for agent, own in by_agent.items()}

    def check_states(self) -> None:
        payloads = [event.payload for event in self.log.read()]
        states = [one.state for one in payloads if isinstance(one, StateChanged)]
        for before, after in pairwise(states):
            assert may_change(before, after), f"from {before} to {after}"


def _repeat(event: Event) -> Message | None:
    assert isinstance(event.payload, Message)
    return Message(text=f"A person says: {event.payload.text}")


def _steps(events: list[Event]) -> list[Step]:
    """Return the replies with their results; each call must have exactly one."""
    steps: list[Step] = []
    calls: tuple[str, ...] = ()
    results: list[tuple[str, str]] = []
    text = ""
    for event in [*events, None]:
        payload = event.payload if event else None
        if payload is None or isinstance(payload, ModelReply):
            assert tuple(call_id for call_id, _ in results) == calls
            if text and text not in {step.text for step in steps}:
                steps.append(Step(text, tuple(results)))
            results = []
        if isinstance(payload, ModelReply):
            text = payload.text
            calls = tuple(call.id for call in payload.tool_calls)
        elif isinstance(payload, Observation) and payload.call_id:
            results.append((payload.call_id, _told(payload)))
    return steps


def _told(observation: Observation) -> str:
    lost = isinstance(observation, ErrorObservation) and observation.reason == "unknown"
    return UNKNOWN if lost else observation_text(observation)
