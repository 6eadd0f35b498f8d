"""Models that say again what they said in a recorded run, for nothing."""

import math
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Final

from patchwright.core.events.metrics import has_answer
from patchwright.core.events.types import (
    Condensed,
    DelegateResult,
    Event,
    Message,
    ModelCalled,
    ModelReply,
    OutcomeReached,
    Source,
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
    CallWatch,
    ChatMessage,
    ModelRequest,
    ModelTraits,
    UserText,
)
from patchwright.core.llm.models import Models
from patchwright.core.types.work import OutcomeKind

CONDENSE: Final = "condense"
JUDGE: Final = "judge"
# So large that no chat nears it, and so small that every chat does.
_ROOMY, _TIGHT = ModelTraits(context_window=10**12), ModelTraits(context_window=1)
_Said = ModelReply | ModelCalled | Condensed

_ERRORS: Final = {
    error.reason: error
    for error in (
        ContextWindowError,
        EmptyReplyError,
        ModelCredentialError,
        ModelDeclinedError,
        ModelRateLimitError,
        ModelRequestError,
        ModelUnavailableError,
    )
}


# A chat begins with the system's text and the task.
_FIRST_REQUEST: Final = 2


class RecordingOverError(ModelError):
    """The run goes on where the recorded one had ended."""

    reason = "recording-over"


def _always() -> bool:
    return True


class Tape:
    """All that models said in a run: for each agent in order, and for each role.

    `may_go_on` is asked before each answer, and may wait for what comes first; if it
    says no, nobody wants the answer any more.
    """

    def __init__(
        self, events: Iterable[Event], may_go_on: Callable[[], bool] = _always
    ) -> None:
        self._may_go_on = may_go_on
        self._agents: defaultdict[str, deque[_Said]] = defaultdict(deque)
        self._beside: defaultdict[str, deque[ModelCalled]] = defaultdict(deque)
        self._tasks: dict[str, str] = {}
        self._endings: dict[str, OutcomeKind] = {}
        for event in events:
            self._record(event)
        self._waiting = [agent for agent in self._agents if agent]
        self._known = defaultdict[str, list[str]](list)
        self._known[self._tasks.get("", "")] = [""]

    @property
    def has_judge(self) -> bool:
        return bool(self._beside[JUDGE])

    def models(self) -> Models:
        """Return the models of the run, by their roles."""
        return Models(
            main=ReplayedModel(self, is_delegate=False),
            delegate=ReplayedModel(self, is_delegate=True),
            condense=ReplayedRole(self, CONDENSE),
            judge=ReplayedRole(self, JUDGE) if self.has_judge else None,
        )

    def begin_delegate(self, task: str) -> None:
        """Take note that a delegate begins: the one of this task, or else the next."""
        same = (one for one in self._waiting if self._tasks.get(one) == task)
        agent = next(same, next(iter(self._waiting), "nobody"))
        self._waiting = [one for one in self._waiting if one != agent]
        self._known[task].append(agent)

    def find_agent(self, task: str) -> str:
        """Return whose chat begins with this task; empty is the run's own agent.

        A delegate may have passed its task on as it was: then it is the last of them
        that has not said all it had to say.
        """
        agents = self._known[task]
        while len(agents) > 1 and not self._has_more(agents[-1]):
            agents.pop()
        return agents[-1] if agents else ""

    def is_out_of_money(self, agent: str) -> bool:
        """Tell whether the agent's next call was one that nobody paid for."""
        is_over = self._endings.get(agent) is OutcomeKind.OVER_BUDGET
        return is_over and not self._has_more(agent)

    def next_reply(self, agent: str) -> ModelReply | None:
        said = self._agents[agent]
        while self._may_go_on() and said:
            if isinstance(one := said.popleft(), ModelReply):
                return one
        return None

    def next_beside(self, role: str) -> ModelCalled | None:
        said = self._beside[role]
        return said.popleft() if self._may_go_on() and said else None

    def condenses_next(self, agent: str) -> bool:
        """Tell whether the chat was condensed before the agent's next reply."""
        said = self._agents[agent]
        return bool(said) and not isinstance(said[0], ModelReply)

    def next_condensing(self, agent: str) -> ModelCalled | Condensed | None:
        """Return what was done to condense the chat before the agent's next reply."""
        return self._pop_condensing(agent) if self.condenses_next(agent) else None

    def _pop_condensing(self, agent: str) -> ModelCalled | Condensed | None:
        one = self._agents[agent].popleft()
        return None if isinstance(one, ModelReply) else one

    def _has_more(self, agent: str) -> bool:
        return any(isinstance(one, ModelReply) for one in self._agents[agent])

    def _record(self, event: Event) -> None:
        payload = event.payload
        if isinstance(payload, ModelReply | Condensed):
            self._agents[payload.agent].append(payload)
        elif isinstance(payload, ModelCalled):
            self._beside[payload.role].append(payload)
            if payload.role == CONDENSE:
                self._agents[payload.agent].append(payload)
        elif isinstance(payload, Message) and event.source is Source.SYSTEM:
            self._tasks.setdefault(payload.agent, payload.text)
        elif isinstance(payload, OutcomeReached):
            self._endings[""] = payload.outcome.kind
        elif isinstance(payload, DelegateResult):
            self._endings[str(event.cause)] = payload.outcome


class ReplayedModel:
    """Takes the steps of the run's own agent, or of its delegates, once more.

    Its window is as large as it has to be for the chat to be condensed where it was,
    and its price such that the budget ends where it did.
    """

    def __init__(self, tape: Tape, *, is_delegate: bool) -> None:
        self.name = "replayed"
        self._tape, self._is_delegate = tape, is_delegate
        self._agent = ""

    def complete(
        self, request: ModelRequest, watch: CallWatch | None = None
    ) -> ModelReply:
        del request, watch
        reply = self._tape.next_reply(self._agent)
        if reply is None:
            raise RecordingOverError("The recorded run had ended here.")
        if not has_answer(reply):
            raise _failure(reply.stop_reason, reply)
        return reply

    def ceiling_usd(self, request: ModelRequest) -> float | None:
        if self._is_delegate:
            self._agent = self._find_delegate(request)
        return math.inf if self._tape.is_out_of_money(self._agent) else 0.0

    def traits(self) -> ModelTraits:
        return _TIGHT if self._tape.condenses_next(self._agent) else _ROOMY

    def _find_delegate(self, request: ModelRequest) -> str:
        task = first_text(request.messages)
        if len(request.messages) <= _FIRST_REQUEST:
            self._tape.begin_delegate(task)
        return self._tape.find_agent(task)


class ReplayedRole:
    """Answers once more what was asked beside the steps, in one role."""

    def __init__(self, tape: Tape, role: str) -> None:
        self.name = "replayed"
        self._tape, self._role = tape, role

    def complete(
        self, request: ModelRequest, watch: CallWatch | None = None
    ) -> ModelReply:
        del request, watch
        called = self._tape.next_beside(self._role)
        if called is None:
            raise RecordingOverError(f"The recorded run did not {self._role} here.")
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

    def traits(self) -> ModelTraits:
        return _ROOMY


def _failure(reason: str, called: ModelReply | ModelCalled) -> ModelError:
    text = f"The model call failed in the recorded run: {reason or 'unknown'}."
    return _ERRORS.get(reason, ModelError)(text, called.usage)


def first_text(messages: Iterable[ChatMessage]) -> str:
    """Return the task that a chat begins with."""
    texts = (one.text for one in messages if isinstance(one, UserText))
    return next(texts, "")
