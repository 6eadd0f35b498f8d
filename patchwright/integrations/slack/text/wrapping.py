"""Break a line that is too long for one block of Slack."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from patchwright.integrations.slack.text.escaping import MAX_PATH, link_address
from patchwright.integrations.slack.text.runs import TextRun, Runs

# What escaping makes of a sign, at most; a picture counts as two letters.
_COSTS: Final = {"&": 5, "<": 4, ">": 5, "*": 3, "_": 3, "~": 3, "`": 2}
# The signs for code, and three pairs of those for formatting.
_AROUND: Final = 16
_BEYOND_BASIC_PLANE: Final = "\U00010000"


def wrap(runs: Runs, room: int) -> Iterator[Runs]:
    """Yield lines that take no more room than this when they are written."""
    line: list[TextRun] = []
    used = 0
    for run in runs:
        for part in _parts(run, room):
            cost = cost_of(part)
            if line and used + cost > room:
                yield tuple(line)
                line, used = [], 0
            line.append(part)
            used += cost
    yield tuple(line)


def cost_of(run: TextRun) -> int:
    """Return how long a run is when written, at most."""
    around = _AROUND + len(run.person) + _cost_of_url(run.url)
    return around + sum(map(_cost, run.text))


def _cost_of_url(url: str) -> int:
    # What is no address is spelled out, if it is short.
    return len(link_address(url)) or len(url[:MAX_PATH]) * max(_COSTS.values())


def _parts(run: TextRun, room: int) -> Iterator[TextRun]:
    """Cut a run, at blanks where there are some."""
    left = run.text
    room -= cost_of(replace(run, text=""))
    while left:
        end = _fitting(left, room)
        if end < len(left):
            end = left.rfind(" ", end // 2, end) + 1 or end
        yield replace(run, text=left[:end])
        left = left[end:]


def _fitting(text: str, room: int) -> int:
    for end, sign in enumerate(text):
        room -= _cost(sign)
        if room < 0:
            return end
    return len(text)


def _cost(sign: str) -> int:
    return _COSTS.get(sign, 2 if sign >= _BEYOND_BASIC_PLANE else 1)
