"""Write the text that stands for turns, and read an earlier one again."""

from typing import Final

from patchwright.core.condense.apply import size_after
from patchwright.core.condense.condenser import History, Turn
from patchwright.core.condense.parts import LEAST_BYTES, split_history, total_bytes
from patchwright.core.events.types import Condensed
from patchwright.core.llm.model import UserText

_HEAD: Final = (
    "[Your earlier steps are no longer shown. This stands for them; it is a record, "
    "not a message from anybody.]"
)
_FACTS: Final = "[What is known at this point]"


def write_summary(body: str, facts: str) -> str:
    known = f"{_FACTS}\n{facts}" if facts else ""
    return "\n\n".join(part for part in (_HEAD, body, known) if part)


def read_summary(turn: Turn) -> str | None:
    """Return the body of an earlier summary, or None if the turn is none."""
    text = turn.messages[0].text if turn.messages else ""
    is_text = len(turn.messages) == 1 and isinstance(turn.messages[0], UserText)
    if not is_text or turn.is_pinned or not text.startswith(_HEAD):
        return None
    body, found, _ = text.removeprefix(_HEAD).partition(f"\n\n{_FACTS}\n")
    return body.strip() if found else text.removeprefix(_HEAD).strip()


def summary_bytes(facts: str) -> int:
    """Return how much a summary takes beside its body."""
    return len(write_summary("", facts).encode(errors="replace"))


def smallest_bytes_of(history: History) -> int:
    """Return the size of a chat in which nothing is left that is worth condensing.

    That is what must stay, beside a summary, or a short text for the rest.
    """
    pinned = total_bytes(turn for turn in history.turns if turn.is_pinned)
    parts = split_history(history)
    summaries = total_bytes(t for t in parts.older if read_summary(t) is not None)
    short = summary_bytes(history.facts) + LEAST_BYTES
    return pinned + total_bytes(parts.newest) + max(summaries, short)


def condense_to_summary(history: History, older: tuple[Turn, ...], body: str) -> Condensed | None:
    """Return the condensation of these turns, or None if it makes nothing shorter."""
    if not older:
        return None
    condensed = Condensed(
        first_id=older[0].id,
        last_id=older[-1].id,
        summary=write_summary(body, history.facts),
    )
    shrinks = size_after(history.turns, condensed) < history.size_bytes
    return condensed if shrinks else None
