"""What models said in a recorded run, in order, for those who say it again."""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Final

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
from patchwright.core.types.work import OutcomeKind

CONDENSE: Final = "condense"
JUDGE: Final = "judge"
RecordedAnswer = ModelReply | ModelCalled | Condensed


def _always() -> bool:
    return True


class ModelRecording:
    """All that models said in a run: for each agent in order, and for each role.

    `may_go_on` is asked before each answer, and may wait for what comes first; if it
    says no, nobody wants the answer any more.
    """

    def __init__(
        self, events: Iterable[Event], may_go_on: Callable[[], bool] = _always
    ) -> None:
        self._may_go_on = may_go_on
        self._agents: defaultdict[str, deque[RecordedAnswer]] = defaultdict(deque)
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

    def is_out_of_tokens(self, agent: str) -> bool:
        """Tell whether the agent's next call was one too many for its tokens."""
        is_over = self._endings.get(agent) is OutcomeKind.OVER_LIMIT
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
