"""The protocol of a condenser, and what it decides by."""

from collections.abc import Callable
from typing import Protocol

from patchwright.core.events.types import Condensed, ModelReply
from patchwright.core.llm.model import ChatMessage
from patchwright.core.types.base import Value


class Turn(Value):
    """A piece of the chat that stays whole: a reply with all its results, or a text.

    `id` is that of the event it comes from, and grows from turn to turn; an earlier
    summary is a turn like any other. `is_pinned` marks what must never be condensed:
    the task, and what people have said since.
    """

    id: int
    messages: tuple[ChatMessage, ...]
    size_bytes: int
    is_pinned: bool = False


class History(Value):
    """The chat as the model would see it now, without the system text.

    `facts` are lines that a summary must not lose: touched files, failing tests, open
    to-dos, the last diff. `goal_bytes` is what `turns` should have in all when they
    have been condensed.
    """

    turns: tuple[Turn, ...]
    facts: str = ""
    goal_bytes: int = 0

    @property
    def size_bytes(self) -> int:
        return sum(turn.size_bytes for turn in self.turns)


# Asks the model that condenses; it is paid for and written down. The first text is
# the system's, the second what it is about. Raises the errors of `core.llm.errors`
# and `OverBudgetError`.
Ask = Callable[[str, str], ModelReply]


class Condenser(Protocol):
    """Decides what of a long conversation the model goes on seeing.

    It is asked when the chat nears the model's window, and once more after each thing
    it did did not suffice. None means that it cannot make it any shorter.
    """

    name: str

    def condense(self, history: History, ask: Ask) -> Condensed | None:
        """Return what to leave out; the sizes in it are filled in by the caller."""
        ...
