"""Figures, lists and quotations that several messages show."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from patchwright.core.text.document.quotation import inert_phrase, inert_prose, quoted
from patchwright.core.text.escape import inline_code
from patchwright.core.text.mentions import neutralise
from patchwright.core.text.strings import count_noun, dollars, truncate_middle
from patchwright.core.types.work import (
    BlockedRequest,
    Limits,
    Outcome,
    ReviewAnswer,
    Usage,
    service_part,
)

# Stands above each quotation of the agent.
AGENT_WROTE: Final = "The agent wrote:"
_MOST_LINES: Final = 20
_MAX_LINE_CHARS: Final = 400
_EXAMPLE_USD: Final = 2.0


def quote_agent(
    text: str, handle: str, max_chars: int, keeps: tuple[str, ...] = ()
) -> str:
    """Quote the agent, and say that it is the agent.

    Its text can neither end the quotation nor pass for ours: it has no headings, no
    tables and none of the signs of a proof. It calls nobody, hides nothing, and leads
    nowhere but to what `keeps` begins. The result is never longer than `max_chars`.
    """
    return _cut_to_fit(
        lambda room: _with_agent_label(quoted(truncate_middle(text, room), keeps)),
        handle,
        max_chars,
    )


def outcome_text(
    outcome: Outcome, handle: str, max_chars: int, keeps: tuple[str, ...] = ()
) -> str:
    """Say what is ours of an outcome's summary as ours, and quote the rest."""
    ours = show_service_text(outcome.own_text, handle, max_chars, keeps, outcome.by)
    room = max_chars - len(ours) - len("\n\n")
    return join(ours, quote_agent(outcome.agent_text, handle, room, keeps))


def review_answer_text(answer: ReviewAnswer, handle: str, max_chars: int) -> str:
    """Say what is ours of an answer as ours, and quote the rest."""
    own = service_part(answer.text, answer.service_text)
    ours = show_service_text(own, handle, max_chars, by=answer.by)
    room = max_chars - len(ours) - len("\n\n")
    return join(ours, quote_agent(answer.text.removeprefix(own), handle, room))


def show_service_text(
    text: str, handle: str, max_chars: int, keeps: tuple[str, ...] = (), by: str = ""
) -> str:
    """Show a text of ours, in which names and errors may be anybody's.

    It calls nobody but the person of the login `by`.
    """
    return _cut_to_fit(
        lambda room: inert_prose(truncate_middle(text, room), keeps, by),
        handle,
        max_chars,
    )


def quote_agent_line(text: str, handle: str, max_chars: int) -> str:
    """Show words of others in one line of a list that says whose they are."""
    line = _one_line(text, max_chars)
    return _cut_to_fit(
        lambda room: inert_phrase(truncate_middle(line, room)), handle, 2 * max_chars
    )


def _with_agent_label(quotation: str) -> str:
    return f"{AGENT_WROTE}\n\n{quotation}" if quotation else ""


def _cut_to_fit(shown: Callable[[int], str], handle: str, max_chars: int) -> str:
    """Cut until it fits: to quote makes a text longer, rarely many times so."""
    for room in _halves(max_chars):
        text = neutralise(shown(room), handle)
        if len(text) <= max_chars:
            return text
    return ""


def _one_line(text: str, max_chars: int = _MAX_LINE_CHARS) -> str:
    line = " ".join(text.split())
    return line if len(line) <= max_chars else f"{line[: max_chars - 1]}…"


def _halves(number: int) -> Iterator[int]:
    while number > 0:
        yield number
        number //= 2


def list_sentences(sentences: Sequence[str], handle: str) -> list[str]:
    """List sentences, each on one line of bounded length."""
    lines = [f"- {quote_agent_line(one, handle, _MAX_LINE_CHARS)}" for one in sentences]
    left = len(lines) - _MOST_LINES
    return lines if left <= 0 else [*lines[:_MOST_LINES], f"- … and {left} more"]


def details_block(title: str, text: str, *, is_open: bool = False) -> str:
    begin = "<details open>" if is_open else "<details>"
    return join(f"{begin}<summary>{title}</summary>", text, "</details>")


def join(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


def cost_text(usage: Usage, limits: Limits | None = None) -> str:
    """Write what was spent, such as `$0.41 of $3.00`; an unknown price is said so."""
    if usage.cost_usd is None:
        return f"{usage.tokens_in + usage.tokens_out:,} tokens, price unknown"
    spent = dollars(usage.cost_usd)
    return f"{spent} of {dollars(limits.max_cost_usd)}" if limits else spent


def raise_example(max_raise_usd: float | None, raised_usd: float = 0.0) -> str:
    """Return an amount that people who may write may still add, such as `+2`.

    Empty where that takes an admin. Without a known bound two dollars are an example.
    """
    left_usd = _EXAMPLE_USD if max_raise_usd is None else max_raise_usd - raised_usd
    # Rounded down, with a correction for sums of floats.
    cents = math.floor(100 * min(left_usd, _EXAMPLE_USD) + 1e-6)
    return f"+{cents / 100:g}" if cents > 0 else ""


def duration_text(seconds: float) -> str:
    """Write a time such as `2m 10s`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h {minutes}m"
    return f"{minutes}m {rest}s" if minutes else f"{rest}s"


def blocked_lines(blocked: Sequence[BlockedRequest]) -> str:
    """List where commands wanted to go and were not let."""
    lines = [
        f"- {inline_code(_host_and_port(one))}, {count_noun(one.count, 'time')}"
        for one in blocked[:_MOST_LINES]
    ]
    left = len(blocked) - len(lines)
    return "\n".join([*lines, f"- … and {left} more"] if left else lines)


def _host_and_port(one: BlockedRequest) -> str:
    return f"{one.host}:{one.port}" if one.port else one.host


MAX_SHOWN_BYTES: Final = 20_000


def patch_block(patch: bytes) -> str:
    """Fold a patch into a message; empty where it is too long or is no plain text."""
    if len(patch) > MAX_SHOWN_BYTES:
        return ""
    try:
        text = patch.decode()
    except UnicodeDecodeError:
        return ""
    if not _can_be_copied(text):
        return ""
    return (
        "<details><summary>The change as a patch, for <code>git am</code></summary>\n\n"
        f"{_fenced(text)}\n\n</details>"
    )


def _fenced(text: str) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}diff\n{text.rstrip()}\n{ticks}"


def _can_be_copied(text: str) -> bool:
    """Tell whether who copies the text from a page gets the same bytes."""
    return all(sign.isprintable() or sign in "\n\t" for sign in text)
