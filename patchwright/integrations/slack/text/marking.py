"""Write a line of runs in Slack's markup."""

import re
from itertools import groupby
from operator import attrgetter
from typing import Final

from patchwright.integrations.slack.text.escaping import (
    MAX_PATH,
    link_address,
    code_span,
    escape_prose,
)
from patchwright.integrations.slack.text.runs import TextRun, Runs, words_of

_STYLES: Final = (("bold", "*"), ("italic", "_"), ("strike", "~"))
_PERSON: Final = re.compile(r"[UW][A-Z0-9]{1,32}")


def write_line(runs: Runs) -> str:
    return _styled(runs, 0, "", "")


def _styled(runs: Runs, style: int, before: str, after: str) -> str:
    """Write runs between two signs; beside a word Slack would not see formatting."""
    if style == len(_STYLES):
        return "".join(map(_write, runs))
    name, mark = _STYLES[style]
    parts: list[str] = []
    groups = [(on, tuple(some)) for on, some in groupby(runs, key=attrgetter(name))]
    for place, (on, group) in enumerate(groups):
        left = words_of(groups[place - 1][1])[-1:] if place else before
        right = words_of(groups[place + 1][1])[:1] if groups[place + 1 :] else after
        inner = _styled(group, style + 1, left, right)
        parts.append(_marked(inner, mark, left, right) if on else inner)
    return "".join(parts)


def _marked(inner: str, mark: str, left: str, right: str) -> str:
    words = inner.strip()
    if not words or left.isalnum() or right.isalnum():
        return inner
    start = inner.index(words)
    return f"{inner[:start]}{mark}{words}{mark}{inner[start + len(words) :]}"


def _write(run: TextRun) -> str:
    if run.person:
        known = _PERSON.fullmatch(run.person)
        return f"<@{run.person}>" if known else escape_prose(run.text)
    if run.url:
        return _link(run)
    return code_span(run.text) if run.code else escape_prose(run.text)


def _link(run: TextRun) -> str:
    url = link_address(run.url)
    if not url:
        return escape_prose(_spelled_out(run))
    is_bare = run.text in (run.url, run.url.removeprefix("mailto:"))
    return f"<{url}>" if is_bare else f"<{url}|{escape_prose(run.text)}>"


def _spelled_out(run: TextRun) -> str:
    """Say where a link goes that Slack has no link for: a path in a repository."""
    is_short = len(run.url) <= MAX_PATH and run.url != run.text
    return f"{run.text} ({run.url})" if is_short else run.text
