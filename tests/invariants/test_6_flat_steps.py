"""Invariant 6: a step costs the same at the end of a long run as near its beginning.

Two thousand steps through the real client, the real log and a real sandbox, against a
provider that checks each request as a strict one does.
"""

import gc
import json
import resource
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from patchwright.core.agent.agents import AgentDependencies, coder
from patchwright.core.agent.analyzers import choose_analyzer
from patchwright.core.agent.budget import RunBudget
from patchwright.core.agent.controller import Controller
from patchwright.core.agent.run_log import RunLog, ignore_steering
from patchwright.core.condense.condensers import choose_condenser
from patchwright.core.events.actions import Message
from patchwright.core.events.log import Notifier
from patchwright.core.events.payload import Source
from patchwright.core.llm.client import LitellmModel
from patchwright.core.llm.model import Models
from patchwright.core.llm.prices import ModelConfig
from patchwright.core.runtime import SandboxSpec
from patchwright.core.system.clock import SystemClock
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Limits
from patchwright.sandbox.factory import create_factory
from patchwright.workers.db.database import Database
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.store.events import EventStore, SqlEventLog
from tests.adapters.store.world import World
from tests.fakes.llm.rules import find_fault
from tests.fakes.llm.server import Answer, LoopbackServer, json_answer

STEPS = 2_000
WINDOW = 24_000
# Several condensations, and what is between them, belong to a part.
PART = 150
EARLY, LATE = 50, STEPS - PART
MOST = 1.2
MOST_GROWTH_BYTES = 24 << 20
BYTES_PER_TOKEN = 4
CLOCK = SystemClock()


@dataclass
class Provider:
    """Asks for one command after the other, and remembers little of each request."""

    spent_s: list[float] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    breaks: int = 0
    summaries: int = 0
    _last: bytes = b""

    def answer(self, _path: str, _headers: Mapping[str, str], body: bytes) -> Answer:
        request = json.loads(body)
        if fault := find_fault(request, frozenset()):
            self.faults.append(fault.message)
            return json_answer(400, {"error": {"message": fault.message}})
        if "tools" not in request:
            self.summaries += 1
            return _completion({"role": "assistant", "content": "It counts."}, body)
        self.spent_s.append(_processor_s())
        self._compare_with_the_last(request)
        return _completion(self._next_step(), body)

    def _compare_with_the_last(self, request: dict[str, Any]) -> None:
        said = json.dumps(request["messages"])[:-1].encode()
        self.breaks += not said.startswith(self._last)
        self._last = said

    def _next_step(self) -> dict[str, Any]:
        number = len(self.spent_s)
        if number % 100 == 0:
            self.memory.append(_resident_bytes())
        name, arguments = "shell", {"command": f"seq {number} {number + 250}"}
        if number > STEPS:
            name, arguments = "finish", {"summary": "Counted."}
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    def seconds_a_step(self, first: int) -> float:
        return (self.spent_s[first + PART] - self.spent_s[first]) / PART


@pytest.mark.long
@pytest.mark.timeout(300)
def test_step_two_thousand_costs_what_step_fifty_did(tmp_path: Path) -> None:
    provider = Provider()
    with LoopbackServer(provider.answer) as server, _opened(tmp_path) as log:
        kind = _run(log, f"{server.url}/v1")
        condensed = _condensed_before(log)
    assert kind is OutcomeKind.RESOLVED
    assert provider.faults == []
    assert condensed >= 20
    assert provider.summaries >= 20
    assert provider.breaks == condensed
    early, late = provider.seconds_a_step(EARLY), provider.seconds_a_step(LATE)
    assert late <= MOST * early, (early, late)
    assert provider.memory[-1] - provider.memory[1] < MOST_GROWTH_BYTES


def _run(log: SqlEventLog, url: str) -> OutcomeKind:
    config = ModelConfig(
        model="openai/m",
        base_url=url,
        api_key=SecretStr("sk-test"),
        context_window=WINDOW,
        max_output_tokens=2_000,
        input_cost_per_token=0.0,
        output_cost_per_token=0.0,
    )
    log.append(Source.SYSTEM, Message(text="Count."))
    with (
        closing(
            create_factory("bubblewrap", CLOCK).start(SandboxSpec(run_id="r"))
        ) as runtime,
        log.listen() as wakeup,
    ):
        dependencies = AgentDependencies(
            agent=coder(),
            models=Models.only(LitellmModel(config, CLOCK)),
            runtime=runtime,
            condenser=choose_condenser(["masking", "summary"]),
            analyzer=choose_analyzer(["rules", "model"]),
            limits=Limits(max_iterations=STEPS + 1, max_tokens=10**9, max_minutes=10.0),
            run_budget=RunBudget(1.0, refuse_unknown=False),
            clock=CLOCK,
        )
        return (
            Controller(RunLog(log, wakeup, ignore_steering, 1), dependencies).run().kind
        )


def _condensed_before(log: SqlEventLog) -> int:
    """Return how many requests came after a condensation of the chat."""
    kinds = frozenset({"condensed", "model_reply"})
    found = [event.payload.kind for event in log.read(kinds=kinds)]
    return sum(
        (before, after) == ("condensed", "model_reply")
        for before, after in pairwise(found)
    )


@contextmanager
def _opened(folder: Path) -> Iterator[SqlEventLog]:
    with closing(Database(f"sqlite:///{folder / 'events.db'}")) as database:
        upgrade(database)
        world = World(database)
        store = EventStore(database, lambda tree: tree, CLOCK, Notifier())
        yield store.open(world.conversation(world.ask()))


def _completion(message: dict[str, Any], body: bytes) -> Answer:
    is_call = bool(message.get("tool_calls"))
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": "tool_calls" if is_call else "stop",
    }
    prompt = len(body) // BYTES_PER_TOKEN
    usage = {"prompt_tokens": prompt, "completion_tokens": 30, "total_tokens": 0}
    head = {"id": "c", "object": "chat.completion", "created": 0, "model": "m"}
    return json_answer(200, {**head, "choices": [choice], "usage": usage})


def _processor_s() -> float:
    """Return the processor's time of this process, which others cannot delay."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _resident_bytes() -> int:
    gc.collect()
    fields = Path("/proc/self/statm").read_text().split()
    return int(fields[1]) * 4096
