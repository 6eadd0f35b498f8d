"""What the tests of the model client ask, and how."""

from collections.abc import Mapping

from pydantic import SecretStr

from patchwright.core.agent.budget import Budget, RunBudget
from patchwright.core.events.observations import ModelReply, ProviderWait
from patchwright.core.llm.client import LitellmModel
from patchwright.core.llm.errors import Settle
from patchwright.core.llm.model import (
    AssistantTurn,
    ChatMessage,
    ModelRequest,
    SystemText,
    ToolResult,
    ToolSpec,
    UserText,
)
from patchwright.core.llm.prices import ModelConfig
from patchwright.core.llm.waiting import UNREACHABLE, Patience
from patchwright.core.system.clock import Clock
from patchwright.core.types.work import Usage
from tests.fakes.clock import FakeClock
from tests.fakes.llm.provider import FakeProvider

SHELL = ToolSpec(
    name="shell",
    description="Run a command.",
    parameters={
        "type": "object",
        "properties": {"command": {"type": "string"}},
        "required": ["command"],
    },
)
STATUS = ToolSpec(
    name="status", description="Look.", parameters={"type": "object", "properties": {}}
)
TASK: tuple[ChatMessage, ...] = (
    SystemText(text="You fix bugs."),
    UserText(text="Fix the bug."),
)


def ask(
    *more: ChatMessage, deadline_s: float = 600.0, tokens_left: int | None = None
) -> ModelRequest:
    return ModelRequest(
        messages=(*TASK, *more),
        tools=(SHELL, STATUS),
        deadline_s=deadline_s,
        tokens_left=tokens_left,
    )


def model_at(
    provider: FakeProvider,
    settings: Mapping[str, object] | None = None,
    *,
    clock: Clock | None = None,
    first_call: Patience = UNREACHABLE,
) -> LitellmModel:
    """Return a model of the provider; `settings` override what is usual."""
    usual = {
        "model": "openai/some-model",
        "api_key": SecretStr("sk-test"),
        "base_url": provider.base_url,
    }
    config = ModelConfig.model_validate({**usual, **(settings or {})})
    return LitellmModel(
        config, clock or FakeClock(), jitter=lambda: 1.0, first_call=first_call
    )


class Waits:
    """A watch that keeps each wait, and pays from a purse."""

    def __init__(self, run_budget: Budget | None = None) -> None:
        self.seen: list[ProviderWait] = []
        self.settled: list[Usage] = []
        self._run_budget = run_budget or RunBudget(10.0**6, refuse_unknown=False)

    def reserve(self, most: Usage) -> Settle:
        settle = self._run_budget.reserve(most)

        def note(usage: Usage) -> None:
            self.settled.append(usage)
            settle(usage)

        return note

    def waits(self, wait: ProviderWait) -> None:
        self.seen.append(wait)


def history(reply: ModelReply, result: str = "ok") -> tuple[ChatMessage, ...]:
    """Return a reply and a result for each of its calls, as the next request has it."""
    turn = AssistantTurn(
        model=reply.model,
        text=reply.text,
        tool_calls=reply.tool_calls,
        reasoning=reply.reasoning,
    )
    results = [ToolResult(call_id=call.id, text=result) for call in reply.tool_calls]
    return (turn, *results)
