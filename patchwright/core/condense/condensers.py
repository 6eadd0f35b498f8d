"""The condensers, with or without a model, and the choice of one by its name."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Final

from patchwright.core.condense.condenser import (
    LEAST_BYTES,
    Ask,
    Condenser,
    History,
    HistoryParts,
    Turn,
    free_bytes_of,
    goal_bytes_of,
    size_after,
    split_history,
    split_history_to_fill,
    total_bytes,
)
from patchwright.core.events.observations import Condensed, ModelReply
from patchwright.core.events.payload import ToolCall
from patchwright.core.llm.errors import ContextWindowError
from patchwright.core.llm.model import AssistantTurn, ChatMessage, ToolResult, UserText
from patchwright.core.system.entry_points import CONDENSERS, find_maker
from patchwright.core.text.escape import as_data
from patchwright.core.text.strings import truncate_middle

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

    That is what must stay, beside a summary, or a short text for the rest, which may be
    longer than it was asked to be.
    """
    pinned = total_bytes(turn for turn in history.turns if turn.is_pinned)
    parts = split_history(history)
    summaries = total_bytes(t for t in parts.older if read_summary(t) is not None)
    short = _short_summary_bytes(history.facts)
    return pinned + total_bytes(parts.newest) + max(summaries, short)


def _short_summary_bytes(facts: str) -> int:
    """Return how much the shortest summary that is asked for may take."""
    return summary_bytes(facts) + LEAST_BYTES * TOLERANCE


def condense_to_summary(
    history: History, older: tuple[Turn, ...], body: str
) -> Condensed | None:
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


# Longer ones say what matters at their ends, as far as anything that long can.
MAX_TEXT_CHARS: Final = 8_000


def write_transcript(turns: Iterable[Turn]) -> str:
    return "\n\n".join(entry for turn in turns for entry in _entries(turn))


def _entries(turn: Turn) -> Iterator[str]:
    earlier = read_summary(turn)
    if earlier is not None:
        yield f"An earlier summary:\n{earlier}"
        return
    for message in turn.messages:
        yield from _message_entries(message)


def _message_entries(message: ChatMessage) -> Iterator[str]:
    text = truncate_middle(message.text.strip(), MAX_TEXT_CHARS)
    if isinstance(message, ToolResult):
        yield f"Result of {message.call_id}:\n{text}"
        return
    who = "The agent said" if isinstance(message, AssistantTurn) else "It was told"
    if text:
        yield f"{who}:\n{text}"
    if isinstance(message, AssistantTurn):
        for call in message.tool_calls:
            arguments = truncate_middle(call.arguments, MAX_TEXT_CHARS)
            yield f"Call {call.id}: {call.name} {arguments}"


MAX_SAID_CHARS: Final = 160
MAX_CALL_CHARS: Final = 200
MAX_RESULT_CHARS: Final = 80

_LEFT_OUT: Final = re.compile(r"\((\d+) earlier lines are left out\)")


class AmortisedCondenser:
    """Forgets how things were found out, and remembers what was done."""

    name = "amortised"

    def condense(self, history: History, ask: Ask) -> Condensed | None:  # noqa: ARG002 - the protocol's
        return list_steps(history)


def list_steps(history: History) -> Condensed | None:
    """Replace the older turns by a list, whose oldest lines go where room is short."""
    parts = split_history(history)
    lines = [line for turn in parts.older for line in _lines_of(turn)]
    room = (
        free_bytes_of(history)
        - total_bytes(parts.newest)
        - summary_bytes(history.facts)
    )
    kept = _newest_that_fit(lines, max(room, LEAST_BYTES))
    return condense_to_summary(history, parts.older, "\n".join(kept))


def _lines_of(turn: Turn) -> list[str]:
    earlier = read_summary(turn)
    if earlier is not None:
        return earlier.splitlines()
    return [f"- {line}"] if (line := _line_of(turn)) else []


def _line_of(turn: Turn) -> str:
    results = {
        message.call_id: message.text
        for message in turn.messages
        if isinstance(message, ToolResult)
    }
    parts: list[str] = []
    for message in turn.messages:
        if isinstance(message, ToolResult):
            continue
        if text := _short(message.text, MAX_SAID_CHARS):
            parts.append(text)
        if isinstance(message, AssistantTurn):
            parts += [_step(call, results) for call in message.tool_calls]
    return "; ".join(parts)


def _step(call: ToolCall, results: dict[str, str]) -> str:
    lines = results.get(call.id, "").strip().splitlines()
    ending = _short(lines[-1], MAX_RESULT_CHARS) if lines else ""
    return f"{call.name} {_short(call.arguments, MAX_CALL_CHARS)} -> {ending}"


def _newest_that_fit(lines: list[str], room_bytes: int) -> list[str]:
    left_out = 0
    if lines and (found := _LEFT_OUT.fullmatch(lines[0])):
        left_out, lines = int(found[1]), lines[1:]
    kept = list(lines)
    sizes = [len(line.encode(errors="replace")) + 1 for line in kept]
    size, at = sum(sizes), 0
    while at < len(kept) and size > room_bytes:
        size -= sizes[at]
        at += 1
    left_out += at
    note = [f"({left_out} earlier lines are left out)"] if left_out else []
    return [*note, *kept[at:]]


def _short(text: str, max_chars: int) -> str:
    """Return the beginning and the end of a text in one line."""
    return " ".join(truncate_middle(" ".join(text.split()), max_chars).split())


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
        if not _is_worth_asking(parts, history.facts):
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


def _is_worth_asking(parts: HistoryParts, facts: str) -> bool:
    """Tell whether there is work for which any usable summary would be shorter."""
    work = [turn for turn in parts.older if read_summary(turn) is None]
    return bool(work) and total_bytes(parts.older) > _short_summary_bytes(facts)


def _words(history: History, parts: HistoryParts) -> int:
    room = (
        free_bytes_of(history)
        - total_bytes(parts.newest)
        - summary_bytes(history.facts)
    )
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


class NoCondenser:
    """A run that outgrows its model's window ends, and says so."""

    name = "none"

    def condense(self, history: History, ask: Ask) -> Condensed | None:  # noqa: ARG002 - the protocol's
        return None


class MaskingCondenser:
    """Costs nothing, and can be undone by the agent: it may look again."""

    name = "masking"

    def condense(self, history: History, ask: Ask) -> Condensed | None:  # noqa: ARG002 - the protocol's
        older = split_history(history).older
        if not older:
            return None
        condensed = Condensed(masked_to=older[-1].id)
        shrinks = size_after(history.turns, condensed) < history.size_bytes
        return condensed if shrinks else None


class RecentCondenser:
    """Of what goes, only the facts are left."""

    name = "recent"

    def condense(self, history: History, ask: Ask) -> Condensed | None:  # noqa: ARG002 - the protocol's
        parts = split_history_to_fill(history, summary_bytes(history.facts))
        return condense_to_summary(history, parts.older, "")


class PipelineCondenser:
    """Uses the next condenser if one does not reach the goal.

    Each sees the chat in full, so that a summary is not made of masked results; what
    they leave out is put together into one condensation.
    """

    name = "pipeline"

    def __init__(self, condensers: Sequence[Condenser]) -> None:
        self._condensers = tuple(condensers)

    def condense(self, history: History, ask: Ask) -> Condensed | None:
        goal, smallest = goal_bytes_of(history), history.size_bytes
        best: Condensed | None = None
        for condenser in self._condensers:
            # A summary is not paid for where it could not be any shorter.
            enough = max(goal, smallest_bytes_of(history)) if best else goal
            if smallest <= enough:
                break
            found = condenser.condense(history, ask)
            if found is None:
                continue
            for candidate in (found, _both(best, found)):
                size = size_after(history.turns, candidate)
                if size < smallest:
                    best, smallest = candidate, size
        return best


def _both(earlier: Condensed | None, later: Condensed) -> Condensed:
    """Combine both: mask what either masks; forget what the later one does, if any."""
    if earlier is None:
        return later
    forgets = later if later.first_id else earlier
    masked_to = max(earlier.masked_to, later.masked_to)
    return forgets.replace(masked_to=masked_to)


BUILT_IN: Final[Mapping[str, Callable[[], Condenser]]] = {
    "none": NoCondenser,
    "recent": RecentCondenser,
    "masking": MaskingCondenser,
    "amortised": AmortisedCondenser,
    "summary": SummaryCondenser,
}


def choose_condenser(names: Sequence[str]) -> Condenser:
    """Return the condenser that tries these in order.

    A plug-in's entry point is called without arguments. Raises `SettingsError` for a
    name that nobody offers.
    """
    found = (
        find_maker(CONDENSERS, name, BUILT_IN, setting="agent.condenser")
        for name in names
    )
    return PipelineCondenser([make() for make in found])
