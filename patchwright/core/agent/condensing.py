"""Shorten an agent's chat when it nears the model's window."""

from typing import Final

from patchwright.core.agent.asking import ModelCaller
from patchwright.core.agent.chronicle import RunLog
from patchwright.core.agent.kit import AgentDependencies
from patchwright.core.agent.view import ChatView
from patchwright.core.condense.apply import size_after
from patchwright.core.condense.condenser import History
from patchwright.core.condense.summaries import smallest_bytes_of
from patchwright.core.events.types import ModelReply, Source
from patchwright.core.llm.model import Model
from patchwright.core.llm.room import needs_condensing

# Rare and deep: each condensation costs the provider's cache of all that follows.
GOAL: Final = 0.4
MAX_ROUNDS: Final = 4
GROWN: Final = 1.1


class ChatCondenser:
    """Condenses one agent's view, by events that every later reader follows."""

    def __init__(
        self,
        run_log: RunLog,
        dependencies: AgentDependencies,
        view: ChatView,
        asking: ModelCaller,
        agent: str,
    ) -> None:
        self._run_log, self._dependencies = run_log, dependencies
        self._view, self._asking = view, asking
        self._agent = agent
        self._tried_bytes = 0

    def is_due(self, model: Model) -> bool:
        """Tell whether the chat nears the model's window, and has grown since it did.

        What could not be shortened is not tried again at each step.
        """
        view = self._view
        if view.size_bytes < self._tried_bytes * GROWN:
            return False
        return needs_condensing(view.tokens_counted, view.bytes_since, model.capabilities())

    def condense(self) -> bool:
        """Condense until it is enough or nothing helps; return whether it is shorter.

        Raises what asking the model raises.
        """
        before = self._view.size_bytes
        goal = round(before * GOAL)
        for number in range(MAX_ROUNDS):
            history = self._history(goal)
            # A second round must not take away what the first one has written.
            enough = max(goal, smallest_bytes_of(history)) if number else goal
            if history.size_bytes <= enough or not self._condense_once(history):
                break
        self._tried_bytes = self._view.size_bytes
        return self._tried_bytes < before

    def _history(self, goal_bytes: int) -> History:
        facts = self._run_log.facts.text(self._agent)
        return self._view.history(facts=facts, goal_bytes=goal_bytes)

    def _condense_once(self, history: History) -> bool:
        condensed = self._dependencies.condenser.condense(history, self._ask)
        if condensed is None:
            return False
        before = self._view.size_bytes
        after = before - history.size_bytes + size_after(history.turns, condensed)
        if after >= before:
            return False
        measured = condensed.replace(
            bytes_before=before, bytes_after=after, agent=self._agent
        )
        self._run_log.append(Source.SYSTEM, measured)
        return True

    def _ask(self, system: str, text: str) -> ModelReply:
        return self._asking.ask_as_role("condense", self._dependencies.models.condense, system, text)
