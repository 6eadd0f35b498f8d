"""Models that say again what they said in a recorded run, for nothing."""

import math
from collections.abc import Iterable
from typing import Final

from patchwright.core.events.metrics import has_answer
from patchwright.core.events.types import ModelCalled, ModelReply
from patchwright.core.llm.budget import (
    CallWatch,
    LimitError,
    OverBudgetError,
    TokenLimitError,
    reserve,
)
from patchwright.core.llm.errors import (
    ContextWindowError,
    EmptyReplyError,
    ModelCredentialError,
    ModelDeclinedError,
    ModelError,
    ModelRateLimitError,
    ModelRequestError,
    ModelUnavailableError,
)
from patchwright.core.llm.model import (
    ChatMessage,
    ModelRequest,
    ModelCapabilities,
    UserText,
)
from patchwright.core.llm.models import Models
from patchwright.core.llm.tape import CONDENSE, JUDGE, ModelRecording
from patchwright.core.types.work import NO_USAGE, Usage

# A chat begins with the system's text and the task.
_FIRST_REQUEST: Final = 2
# So large that no chat nears it, and so small that every chat does.
_ROOMY, _TIGHT = ModelCapabilities(context_window=10**12), ModelCapabilities(context_window=1)
_ERRORS: Final[dict[str, type[ModelError] | type[LimitError]]] = {
    error.reason: error
    for error in (
        ContextWindowError,
        EmptyReplyError,
        ModelCredentialError,
        ModelDeclinedError,
        ModelRateLimitError,
        ModelRequestError,
        ModelUnavailableError,
        OverBudgetError,
        TokenLimitError,
    )
}


class ReplayEndedError(ModelError):
    """The run goes on where the recorded one had ended."""

    reason = "recording-over"


def replayed_models(model_recording: ModelRecording) -> Models:
    """Return the models of the recorded run, by their roles."""
    return Models(
        main=ReplayedModel(model_recording, is_delegate=False),
        delegate=ReplayedModel(model_recording, is_delegate=True),
        condense=ReplayedRole(model_recording, CONDENSE),
        judge=ReplayedRole(model_recording, JUDGE) if model_recording.has_judge else None,
    )


class ReplayedModel:
    """Takes the steps of the run's own agent, or of its delegates, once more.

    Its window is as large as it has to be for the chat to be condensed where it was,
    and its price such that the budget ends where it did.
    """

    def __init__(self, model_recording: ModelRecording, *, is_delegate: bool) -> None:
        self.name = "replayed"
        self._model_recording, self._is_delegate = model_recording, is_delegate
        self._agent = ""

    def complete(
        self, request: ModelRequest, watch: CallWatch | None = None
    ) -> ModelReply:
        if self._is_delegate:
            self._agent = self._find_delegate(request)
        is_poor = self._model_recording.is_out_of_money(self._agent)
        most = Usage(cost_usd=math.inf if is_poor else 0.0)
        settle = reserve(watch, most)
        reply = self._model_recording.next_reply(self._agent)
        if reply is None and self._model_recording.is_out_of_tokens(self._agent):
            raise TokenLimitError("The recorded run had no tokens left here.")
        if reply is None:
            raise ReplayEndedError("The recorded run had ended here.")
        settle(reply.usage)
        if not has_answer(reply):
            raise _failure(reply.stop_reason, reply)
        return reply

    def ceiling_usd(self, request: ModelRequest) -> float | None:
        del request
        return 0.0

    def capabilities(self) -> ModelCapabilities:
        return _TIGHT if self._model_recording.condenses_next(self._agent) else _ROOMY

    def _find_delegate(self, request: ModelRequest) -> str:
        task = first_text(request.messages)
        if len(request.messages) <= _FIRST_REQUEST:
            self._model_recording.begin_delegate(task)
        return self._model_recording.find_agent(task)


class ReplayedRole:
    """Answers once more what was asked beside the steps, in one role."""

    def __init__(self, model_recording: ModelRecording, role: str) -> None:
        self.name = "replayed"
        self._model_recording, self._role = model_recording, role

    def complete(
        self, request: ModelRequest, watch: CallWatch | None = None
    ) -> ModelReply:
        del request
        settle = reserve(watch, NO_USAGE)
        called = self._model_recording.next_beside(self._role)
        if called is None:
            raise ReplayEndedError(f"The recorded run did not {self._role} here.")
        settle(called.usage)
        if called.failure:
            raise _failure(called.failure, called)
        return ModelReply(
            model=called.model,
            text=called.text,
            usage=called.usage,
            latency_ms=called.latency_ms,
            stop_reason="stop",
        )

    def ceiling_usd(self, request: ModelRequest) -> float | None:
        del request
        return 0.0

    def capabilities(self) -> ModelCapabilities:
        return _ROOMY


def _failure(reason: str, called: ModelReply | ModelCalled) -> ModelError | LimitError:
    text = f"The model call failed in the recorded run: {reason or 'unknown'}."
    return _ERRORS.get(reason, ModelError)(text, called.usage)


def first_text(messages: Iterable[ChatMessage]) -> str:
    """Return the task that a chat begins with."""
    texts = (one.text for one in messages if isinstance(one, UserText))
    return next(texts, "")
