"""What one step of the loop costs: from a reply sent to the next request received."""

import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from pydantic import SecretStr

from bench.event_log import opened_log
from bench.figures import CLOCK, Metric, ms, took_s
from patchwright.core.agent.agents import AgentDependencies, coder
from patchwright.core.agent.analyzers import choose_analyzer
from patchwright.core.agent.budget import RunBudget
from patchwright.core.agent.controller import Controller
from patchwright.core.agent.run_log import RunLog, ignore_steering
from patchwright.core.condense.condensers import choose_condenser
from patchwright.core.events.actions import Message
from patchwright.core.events.observations import ModelReply
from patchwright.core.events.payload import Source
from patchwright.core.llm.client import LitellmModel
from patchwright.core.llm.errors import CallWatch
from patchwright.core.llm.model import ModelCapabilities, ModelRequest, Models
from patchwright.core.llm.prices import ModelConfig
from patchwright.core.runtime import Runtime, SandboxSpec
from patchwright.core.types.work import Limits
from patchwright.sandbox.factory import create_factory
from tests.fakes.llm.server import Answer, LoopbackServer, json_answer
from tests.provision.image import ensure_image

STEPS = 200
PART = 20
KINDS = ("bubblewrap", "docker")


def measure() -> Iterator[Metric]:
    for kind in KINDS:
        yield _figure(kind, _run(kind, ensure_image()))


@dataclass(frozen=True)
class Found:
    """What a run took, and what its first and last model call take by themselves."""

    steps_s: list[float]
    first_call_s: list[float]
    last_call_s: list[float]
    request_bytes: tuple[int, int]


def _figure(kind: str, found: Found) -> Metric:
    first_bytes, last_bytes = found.request_bytes
    return Metric(
        f"{kind}: the first {PART} and the last {PART} of {STEPS} "
        f"({first_bytes:,} and {last_bytes:,} bytes asked)",
        f"{ms(found.steps_s[1:PART])}, {ms(found.steps_s[-PART:])}",
        f"the model call alone: {ms(found.first_call_s)}, {ms(found.last_call_s)}",
    )


class Provider:
    """Asks for one `echo` after the other, without a look at what it is sent."""

    def __init__(self) -> None:
        self.received_at: list[float] = []
        self.sizes: list[int] = []

    def answer(self, _path: str, _headers: Mapping[str, str], body: bytes) -> Answer:
        self.received_at.append(CLOCK.monotonic())
        self.sizes.append(len(body))
        number = len(self.sizes)
        name, arguments = "shell", {"command": f"echo {number}"}
        if number > STEPS:
            name, arguments = "finish", {"summary": "Done."}
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        head = {"id": "c", "object": "chat.completion", "created": 0, "model": "m"}
        return json_answer(200, {**head, "choices": [choice], "usage": usage})


class KeepingModel:
    """Passes requests on and keeps them."""

    def __init__(self, model: LitellmModel) -> None:
        self.name, self.model = model.name, model
        self.requests: list[ModelRequest] = []

    def complete(
        self, request: ModelRequest, watch: CallWatch | None = None
    ) -> ModelReply:
        self.requests.append(request)
        return self.model.complete(request, watch)

    def capabilities(self) -> ModelCapabilities:
        return self.model.capabilities()

    def ceiling_usd(self, request: ModelRequest) -> float | None:
        return self.model.ceiling_usd(request)


def _run(kind: str, image: str) -> Found:
    provider = Provider()
    with LoopbackServer(provider.answer) as server:
        key = SecretStr("sk-bench")
        config = ModelConfig(model="openai/m", base_url=f"{server.url}/v1", api_key=key)
        model = KeepingModel(LitellmModel(config, CLOCK))
        spec = SandboxSpec(run_id="bench-steps", image=image)
        with closing(create_factory(kind, CLOCK, image).start(spec)) as runtime:
            _loop(model, runtime)
        steps_s = [later - earlier for earlier, later in pairwise(provider.received_at)]
        sizes = (provider.sizes[0], provider.sizes[-1])
        return Found(
            steps_s,
            _alone(model, model.requests[0]),
            _alone(model, model.requests[-1]),
            sizes,
        )


def _loop(model: KeepingModel, runtime: Runtime) -> None:
    """Run the script with everything that is written down in a service."""
    with (
        tempfile.TemporaryDirectory(prefix="patchwright-bench-") as folder,
        opened_log(Path(folder, "events.db")) as log,
    ):
        log.append(Source.SYSTEM, Message(text="Count."))
        dependencies = AgentDependencies(
            agent=coder(),
            models=Models.only(model),
            runtime=runtime,
            condenser=choose_condenser(["none"]),
            analyzer=choose_analyzer(["rules", "model"]),
            limits=Limits(max_iterations=STEPS + 1),
            run_budget=RunBudget(1.0, refuse_unknown=False),
            clock=CLOCK,
        )
        with log.listen() as wakeup:
            Controller(
                RunLog(log, wakeup, ignore_steering, start_id=1), dependencies
            ).run()


def _alone(model: KeepingModel, request: ModelRequest) -> list[float]:
    return [took_s(lambda: model.model.complete(request)) for _ in range(PART)]
