"""A model that says what a test has it say."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence

from pydantic import JsonValue

from patchwright.core.events.observations import ModelReply
from patchwright.core.events.payload import ToolCall
from patchwright.core.llm.errors import CallWatch, LimitError, ModelError, reserve
from patchwright.core.llm.model import (
    AssistantTurn,
    ModelCapabilities,
    ModelRequest,
    ToolResult,
)
from patchwright.core.types.work import Usage
from patchwright.resolver.proof.advice import HELD_BACK

Step = ModelReply | Exception | Callable[[ModelRequest], ModelReply]
NOTHING_KNOWN = ModelCapabilities()


class ScriptEndedError(AssertionError):
    """More was asked of a scripted model than its script has answers for."""


class ScriptedModel:
    """Plays its steps in order; `requests` keeps what it was asked.

    A step is a reply, an error to raise, or a function of the request. `ceiling` and
    `traits` are what it answers when asked for them. A finish that was held back since
    its proof falls short is repeated, which is no step; with `takes_advice` the steps
    say what to do then.
    """

    def __init__(
        self,
        steps: Iterable[Step],
        *,
        name: str = "scripted",
        ceiling: float | None = 0.0,
        capabilities: ModelCapabilities = NOTHING_KNOWN,
        takes_advice: bool = False,
    ) -> None:
        self.name = name
        self.requests: list[ModelRequest] = []
        self._steps = list(steps)
        self._played = 0
        self._takes_advice = takes_advice
        self._ceiling = ceiling
        self._capabilities = capabilities

    @property
    def unplayed(self) -> int:
        return len(self._steps) - self._played

    def complete(
        self, request: ModelRequest, watch: CallWatch | None = None
    ) -> ModelReply:
        settle = reserve(watch, Usage(cost_usd=self._ceiling))
        try:
            reply = self._play(request)
        except (ModelError, LimitError) as error:
            settle(error.usage)
            raise
        settle(reply.usage)
        return reply

    def _play(self, request: ModelRequest) -> ModelReply:
        if not self._takes_advice and (finish := _repeated_finish(request)):
            self.requests.append(request)
            return finish
        if self.unplayed <= 0:
            raise ScriptEndedError(
                f"{self.name} was asked once more after its {len(self._steps)} steps."
            )
        step = self._steps[self._played]
        self._played += 1
        self.requests.append(request)
        if isinstance(step, Exception):
            raise step
        return step if isinstance(step, ModelReply) else step(request)

    def ceiling_usd(self, request: ModelRequest) -> float | None:
        del request
        return self._ceiling

    def capabilities(self) -> ModelCapabilities:
        return self._capabilities


def _repeated_finish(request: ModelRequest) -> ModelReply | None:
    """Call finish as before, if that was held back since its proof falls short."""
    results = [one for one in request.messages if isinstance(one, ToolResult)]
    if not results or not results[-1].text.startswith(HELD_BACK):
        return None
    turns = [one for one in request.messages if isinstance(one, AssistantTurn)]
    finishes = [one for one in turns[-1].tool_calls if one.name == "finish"]
    return reply(calls=[(one.name, json.loads(one.arguments)) for one in finishes])


def reply(
    text: str = "",
    calls: Sequence[tuple[str, Mapping[str, JsonValue]]] = (),
    *,
    cost_usd: float | None = 0.0,
    malformed: Mapping[str, str] | None = None,
) -> ModelReply:
    """Build a reply: `reply(calls=[("shell", {"command": "ls"})])`.

    The calls get the ids `call_1`, `call_2`, ...; `malformed` is keyed by them.
    """
    return ModelReply(
        model="scripted",
        text=text,
        tool_calls=tuple(
            ToolCall(id=f"call_{number}", name=name, arguments=json.dumps(arguments))
            for number, (name, arguments) in enumerate(calls, start=1)
        ),
        malformed=dict(malformed or {}),
        stop_reason="tool_calls" if calls else "stop",
        usage=Usage(cost_usd=cost_usd, tokens_in=10, tokens_out=5),
    )
