"""Invariant 6: a step costs the same at the end of a long run as near its beginning.

Two thousand steps through the real client, the real log and a real sandbox, against a
provider that checks each request as a strict one does.
"""

import gc
import json
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from pydantic import SecretStr

from patchwright.core.agent.agents import coder
from patchwright.core.agent.chronicle import Chronicle, hear_nobody
from patchwright.core.agent.controller import Controller
from patchwright.core.agent.kit import AgentKit
from patchwright.core.agent.purse import RunPurse
from patchwright.core.clock import SystemClock
from patchwright.core.condense.choose import choose_condenser
from patchwright.core.events.types import Message, Source
from patchwright.core.llm.client import LitellmModel
from patchwright.core.llm.config import ModelConfig
from patchwright.core.llm.models import Models
from patchwright.core.runtime import SandboxSpec
from patchwright.core.security.choose import choose_analyzer
from patchwright.core.types.work import Limits, OutcomeKind
from patchwright.sandbox.choose import choose
from patchwright.workers.db.database import Database
from tests.adapters.store.world import World, request_job
from tests.fakes.llm.rules import find_fault
from tests.fakes.llm.server import Answer, LoopbackServer, json_answer

STEPS = 2_000
WINDOW = 24_000
# One condensation and what is between it and the next belong to a part.
PART = 60
EARLY, LATE = 50, STEPS - PART
MOST = 1.2
MOST_GROWTH_BYTES = 24 << 20
BYTES_PER_TOKEN = 4
CLOCK = SystemClock()


@dataclass
class Provider:
    """Asks for one command after the other, and remembers little of each request."""

    received_at: list[float] = field(default_factory=list)
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
        self.received_at.append(CLOCK.monotonic())
        self._compare_with_the_last(request)
        return _completion(self._next_step(), body)

    def _compare_with_the_last(self, request: dict[str, Any]) -> None:
        said = json.dumps(request["messages"])[:-1].encode()
        self.breaks += not said.startswith(self._last)
        self._last = said

    def _next_step(self) -> dict[str, Any]:
        number = len(self.received_at)
        if number % 100 == 0:
            self.memory.append(_resident_bytes())
        name, arguments = "shell", {"command": f"seq {number} {number + 250}"}
        if number > STEPS:
            name, arguments = "finish", {"summary": "Counted."}
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}

    def seconds(self, first: int) -> list[float]:
        part = self.received_at[first : first + PART]
        return [later - earlier for earlier, later in zip(part, part[1:], strict=False)]


@pytest.mark.timeout(300)
def test_step_two_thousand_costs_what_step_fifty_did(tmp_path: Path) -> None:
    provider = Provider()
    with LoopbackServer(provider.answer) as server, _opened(tmp_path) as world:
        kind, condensed = _run(world, f"{server.url}/v1")
    assert kind is OutcomeKind.RESOLVED
    assert provider.faults == []
    assert condensed >= 20
    assert provider.breaks == condensed
    early, late = provider.seconds(EARLY), provider.seconds(LATE)
    assert median(late) <= MOST * median(early), (median(early), median(late))
    assert provider.memory[-1] - provider.memory[1] < MOST_GROWTH_BYTES


def _run(world: World, url: str) -> tuple[OutcomeKind, int]:
    """Return how the run ended, and how often its chat was condensed."""
    log = world.events.open(request_job(world))
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
        closing(choose("bubblewrap", CLOCK).start(SandboxSpec(run_id="r"))) as runtime,
        log.listen() as bell,
    ):
        kit = AgentKit(
            agent=coder(),
            models=Models.only(LitellmModel(config, CLOCK)),
            runtime=runtime,
            condenser=choose_condenser(["masking", "summary"]),
            analyzer=choose_analyzer(["rules", "model"]),
            limits=Limits(
                max_iterations=STEPS + 1, max_tokens=10**9, max_minutes=10.0
            ),
            purse=RunPurse(1.0, refuse_unknown=False),
            clock=CLOCK,
        )
        ending = Controller(Chronicle(log, bell, hear_nobody, 1), kit).run()
    return ending.kind, len(log.read(kinds=frozenset({"condensed"})))


@contextmanager
def _opened(folder: Path) -> Iterator[World]:
    with closing(Database(f"sqlite:///{folder / 'events.db'}")) as database:
        yield World(database)


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


def _resident_bytes() -> int:
    gc.collect()
    fields = Path("/proc/self/statm").read_text().split()
    return int(fields[1]) * 4096
