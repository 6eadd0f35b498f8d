"""Write our Markdown as Linear shows it, which knows no HTML."""

import re
from collections.abc import Callable
from typing import Final
from urllib.parse import unquote

from patchwright.core.channel import Offer, Offers
from patchwright.core.text.escape import MENTION_LINK, Marked, split_marks
from patchwright.core.types.base import Value

_FENCED: Final = re.compile(
    r"(^[ ]{0,3}(`{3,}|~{3,}).*?^[ ]{0,3}\2[^\n]*$)", re.MULTILINE | re.DOTALL
)
_BEGIN: Final = re.compile(r"<details(?: open)?><summary>(.*?)</summary>")
_END: Final = "</details>"
_SMALL: Final = re.compile(r"</?(?:sub|sup|kbd)>")
_CALL: Final = re.compile(rf"\[@?([^\]\n]*)\]\({re.escape(MENTION_LINK)}([^)\s]*)\)")
_CHECK: Final = re.compile(r"^(?P<indent>\s*)- \[(?P<done>[ x])\] (?P<words>.+)$")
_NOW: Final = "**→** "
_MISSED: Final = "❌ "
_PLAN_HEAD: Final = "- The agent's plan:"
_MORE: Final = re.compile(r"^\s*- … and \d+ more$")
_LINK: Final = re.compile(r"\[(live log|run)\]\(([^)\s]+)\)")
_BLANK_LINES: Final = re.compile(r"\n{3,}")


class PlanStep(Value):
    """A line of a checklist; `status` is in Linear's words.

    https://linear.app/developers/agent-interaction#agent-plans
    """

    content: str
    status: str


class ProgressText(Value):
    """A text of ours apart from its checklist; `run_url` is the page of the run."""

    text: str
    plan: tuple[PlanStep, ...] = ()
    run_url: str = ""


def to_linear(text: str, person_url: Callable[[str], str]) -> str:
    """Return a text without our marks, as Linear's editor reads it.

    `person_url` returns the page of somebody by their id, which Linear shows as a
    mention, or an empty string.
    """
    parts = _FENCED.split(split_marks(text).text)
    # Of each three: what is not code, the code, and how its fence looks.
    for at in range(0, len(parts), 3):
        parts[at] = _without_html(_named(parts[at], person_url))
    del parts[2::3]
    return _BLANK_LINES.sub("\n\n", "".join(parts)).strip()


def _named(text: str, person_url: Callable[[str], str]) -> str:
    def name(found: re.Match[str]) -> str:
        return person_url(unquote(found[2])) or f"**{found[1]}**"

    return _CALL.sub(name, text)


def _without_html(text: str) -> str:
    """Fold what is folded by Linear's own sign for it."""
    folded = _BEGIN.sub(r"+++ \1", text).replace(_END, "+++")
    return _SMALL.sub("", folded)


def split_progress(text: str) -> ProgressText:
    """Take the checklist out of a progress text, for Linear has a place for it."""
    steps, kept = [], []
    for line in text.splitlines():
        found = _CHECK.match(line)
        if found:
            steps.append(_step(found["words"], is_done=found["done"] == "x"))
        elif line != _PLAN_HEAD and not _MORE.match(line):
            kept.append(line)
    link = _LINK.search(text)
    return ProgressText(
        text=_BLANK_LINES.sub("\n\n", "\n".join(kept)).strip(),
        plan=_with_current(steps),
        run_url=link[2] if link else "",
    )


def _step(words: str, *, is_done: bool) -> PlanStep:
    if words.startswith(_MISSED):
        return PlanStep(content=words.removeprefix(_MISSED), status="canceled")
    if words.startswith(_NOW):
        return PlanStep(content=words.removeprefix(_NOW), status="inProgress")
    return PlanStep(content=words, status="completed" if is_done else "pending")


def _with_current(steps: list[PlanStep]) -> tuple[PlanStep, ...]:
    """Show the first open step as the present one if no other is."""
    if any(one.status == "inProgress" for one in steps):
        return tuple(steps)
    at = next((n for n, one in enumerate(steps) if one.status == "pending"), None)
    if at is not None:
        steps[at] = steps[at].replace(status="inProgress")
    return tuple(steps)


def with_offers(text: str, offers: Offers, mention: str) -> str:
    """Add the offers that the text does not make already; the marks stay last."""
    marked = split_marks(text)
    lines = [line for one in offers if (line := _offer_line(marked, one, mention))]
    shown = "\n\n".join((marked.text, "\n".join(lines))) if lines else marked.text
    return "\n".join((shown, *marked.marks))


def _offer_line(marked: Marked, offer: Offer, mention: str) -> str:
    text = marked.text
    if offer.url:
        return "" if offer.url in text else f"- [{offer.words}]({offer.url})"
    command = f"{mention} {offer.command}"
    # What is picked from a list or typed into a form elsewhere is an answer here.
    needs_words = offer.asks and not offer.example
    if offer.is_in_text or offer.picks_repository or needs_words or not offer.command:
        return ""
    if command in text or f"`{offer.command}`" in text:
        return ""
    return f"- {offer.words}: reply `{f'{command} {offer.example}'.strip()}`"


def without_link(text: str, url: str) -> str:
    """Return a text in which one address stands no more, only the words it had."""
    linked = re.compile(rf"\[([^\]\n]*)\]\(<?{re.escape(url)}>?\)")
    return linked.sub(r"\1", text).replace(url, "")
