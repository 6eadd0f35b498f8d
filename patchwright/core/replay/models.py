"""Models that repeat what they said in a recorded run, at no cost."""

import math
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Final

from patchwright.core.events import types as ev
from patchwright.core.events.state import has_answer
from patchwright.core.llm import errors
from patchwright.core.llm.model import (
    ChatMessage,
    ModelCapabilities,
    ModelRequest,
    Models,
    UserText,
)
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import NO_USAGE, Usage

CONDENSE: Final = "condense"
JUDGE: Final = "judge"
RecordedAnswer = ev.ModelReply | ev.ModelCalled | ev.Condensed


class ModelRecording:
    """All that models said in a run: for each agent in order, and for each role.

    `may_go_on` is asked before each answer, and may wait for what comes first; if it
    says no, nobody wants the answer any more.
    """

    def __init__(
        self, events: Iterable[ev.Event], may_go_on: Callable[[], bool] = lambda: True
    ) -> None:
        self._may_go_on = may_go_on
        self._agents: defaultdict[str, deque[RecordedAnswer]] = defaultdict(deque)
        self._beside: defaultdict[str, deque[ev.ModelCalled]] = defaultdict(deque)
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

    def find_ending(self, agent: str) -> OutcomeKind | None:
        """Return how the agent ended, if it has no recorded reply left."""
        return None if self._has_more(agent) else self._endings.get(agent)

    def next_reply(self, agent: str) -> ev.ModelReply | None:
        events = self._agents[agent]
        while self._may_go_on() and events:
            if isinstance(one := events.popleft(), ev.ModelReply):
                return one
        return None

    def next_beside(self, role: str) -> ev.ModelCalled | None:
        events = self._beside[role]
        return events.popleft() if self._may_go_on() and events else None

    def condenses_next(self, agent: str) -> bool:
        """Tell whether the chat was condensed before the agent's next reply."""
        events = self._agents[agent]
        return bool(events) and not isinstance(events[0], ev.ModelReply)

    def next_condensing(self, agent: str) -> ev.ModelCalled | ev.Condensed | None:
        """Return what was done to condense the chat before the agent's next reply."""
        events = self._agents[agent]
        if not events or isinstance(events[0], ev.ModelReply):
            return None
        done = events[0]
        events.popleft()
        return done

    def _has_more(self, agent: str) -> bool:
        return any(isinstance(one, ev.ModelReply) for one in self._agents[agent])

    def _record(self, event: ev.Event) -> None:
        payload = event.payload
        if isinstance(payload, ev.ModelReply | ev.Condensed):
            self._agents[payload.agent].append(payload)
        elif isinstance(payload, ev.ModelCalled):
            self._beside[payload.role].append(payload)
            if payload.role == CONDENSE:
                self._agents[payload.agent].append(payload)
        elif isinstance(payload, ev.Message) and event.source is ev.Source.SYSTEM:
            self._tasks.setdefault(payload.agent, payload.text)
        elif isinstance(payload, ev.OutcomeReached):
            self._endings[""] = payload.outcome.kind
        elif isinstance(payload, ev.DelegateResult):
            self._endings[str(event.cause)] = payload.outcome


# A chat begins with the system's text and the task.
_FIRST_REQUEST: Final = 2
# So large that no chat nears it, and so small that every chat does.
_ROOMY = ModelCapabilities(context_window=10**12)
_TIGHT = ModelCapabilities(context_window=1)
_ERRORS: Final[dict[str, type[errors.ModelError] | type[errors.LimitError]]] = {
    error.reason: error
    for error in (
        *(
            errors.ContextWindowError,
            errors.EmptyReplyError,
            errors.ModelCredentialError,
        ),
        *(
            errors.ModelDeclinedError,
            errors.ModelRateLimitError,
            errors.ModelRequestError,
        ),
        *(errors.ModelUnavailableError, errors.OverBudgetError, errors.TokenLimitError),
    )
}


class ReplayEndedError(errors.ModelError):
    """The run goes on where the recorded one had ended."""

    reason = "recording-over"


def replayed_models(model_recording: ModelRecording) -> Models:
    """Return the models of the recorded run, by their roles."""
    judge = ReplayedRole(model_recording, JUDGE)
    return Models(
        main=ReplayedModel(model_recording, is_delegate=False),
        delegate=ReplayedModel(model_recording, is_delegate=True),
        condense=ReplayedRole(model_recording, CONDENSE),
        judge=judge if model_recording.has_judge else None,
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
        self, request: ModelRequest, watch: errors.CallWatch | None = None
    ) -> ev.ModelReply:
        if self._is_delegate:
            self._agent = self._find_delegate(request)
        ending = self._model_recording.find_ending(self._agent)
        is_poor = ending is OutcomeKind.OVER_BUDGET
        settle = errors.reserve(watch, Usage(cost_usd=math.inf if is_poor else 0.0))
        reply = self._model_recording.next_reply(self._agent)
        if reply is None and ending is OutcomeKind.OVER_LIMIT:
            raise errors.TokenLimitError("The recorded run had no tokens left here.")
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
        self, request: ModelRequest, watch: errors.CallWatch | None = None
    ) -> ev.ModelReply:
        del request
        settle = errors.reserve(watch, NO_USAGE)
        called = self._model_recording.next_beside(self._role)
        if called is None:
            raise ReplayEndedError(f"The recorded run did not {self._role} here.")
        settle(called.usage)
        if called.failure:
            raise _failure(called.failure, called)
        return ev.ModelReply(
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


def _failure(
    reason: str, called: ev.ModelReply | ev.ModelCalled
) -> errors.ModelError | errors.LimitError:
    text = f"The model call failed in the recorded run: {reason or 'unknown'}."
    return _ERRORS.get(reason, errors.ModelError)(text, called.usage)


def first_text(messages: Iterable[ChatMessage]) -> str:
    """Return the task that a chat begins with."""
    texts = (one.text for one in messages if isinstance(one, UserText))
    return next(texts, "")
