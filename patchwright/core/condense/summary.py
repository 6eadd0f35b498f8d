"""The condenser that has a model summarise the older turns."""

from functools import cache
from importlib.resources import files
from typing import Final

from patchwright.core.condense.amortised import list_steps
from patchwright.core.condense.condenser import Ask, History
from patchwright.core.condense.parts import (
    LEAST_BYTES,
    HistoryParts,
    split_history,
    free_bytes_of,
    total_bytes,
)
from patchwright.core.condense.summaries import (
    read_summary,
    condense_to_summary,
    summary_bytes,
)
from patchwright.core.condense.transcript import write_transcript
from patchwright.core.events.types import Condensed, ModelReply
from patchwright.core.llm.errors import ContextWindowError
from patchwright.core.text.fence import as_data

BYTES_PER_WORD: Final = 7
MIN_WORDS: Final = LEAST_BYTES // BYTES_PER_WORD
MAX_WORDS: Final = 1_200
# A summary may miss its length by as much.
TOLERANCE: Final = 2
SHORTEST_CHARS: Final = 40


class SummaryCondenser:
    """Asks the model that condenses; whatever is no summary gives way to a list."""

    name = "summary"

    def condense(self, history: History, ask: Ask) -> Condensed | None:
        """Summarise; raises what asking raises.

        Work that is too long even for the model that condenses is listed instead.
        """
        parts = split_history(history)
        if not _is_worth_asking(parts):
            return list_steps(history)
        words = _words(history, parts)
        try:
            reply = ask(_prompt(), _question(history, parts, words))
        except ContextWindowError:
            return list_steps(history)
        if not _is_usable(reply, words):
            return list_steps(history)
        condensed = condense_to_summary(history, parts.older, reply.text.strip())
        return condensed or list_steps(history)


@cache
def _prompt() -> str:
    return files(__package__).joinpath("summary.md").read_text(encoding="utf-8").strip()


def _is_worth_asking(parts: HistoryParts) -> bool:
    """Tell whether there is work that a shorter text could stand for."""
    work = [turn for turn in parts.older if read_summary(turn) is None]
    return bool(work) and total_bytes(parts.older) > LEAST_BYTES


def _words(history: History, parts: HistoryParts) -> int:
    room = free_bytes_of(history) - total_bytes(parts.newest) - summary_bytes(history.facts)
    return min(max(room // BYTES_PER_WORD, MIN_WORDS), MAX_WORDS)


def _question(history: History, parts: HistoryParts, words: int) -> str:
    request = write_transcript(turn for turn in history.turns if turn.is_pinned)
    asked = as_data("the request", "people", request)
    record = as_data("the record", "the engineer", write_transcript(parts.older))
    return f"{asked}\n\n{record}\n\nSummarise the record in at most {words} words."


def _is_usable(reply: ModelReply, words: int) -> bool:
    text = reply.text.strip()
    is_short = len(text.encode(errors="replace")) <= words * BYTES_PER_WORD * TOLERANCE
    is_text = sum(map(str.isalpha, text)) >= SHORTEST_CHARS
    return is_text and is_short and reply.stop_reason != "length"
