"""What a terminal shows while a recording is played, with pauses a reader can bear."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

import pyte
from pyte.screens import Char

from tests.recording.cast import Size, Written

# The longest wait that is shown, and the shortest time that a new line is the last one.
IDLE_S, LINE_S = 1.2, 0.12
# How long a clock or a spinner is seen that moves while nothing else happens.
CLOCK_S = 2.0
_CLOCK = re.compile(r"[\d.⠀-⣿]+")
# Whatever comes faster than this is one picture; the last one stays for a while.
FRAME_S, LAST_S = 0.3, 6.0
PROMPT = "\x1b[1;32m$\x1b[0m "
TYPED_S = 0.3


class Look(NamedTuple):
    """How signs are drawn; a colour is a name of the terminal's, or six digits."""

    colour: str = "default"
    ground: str = "default"
    bold: bool = False


@dataclass(frozen=True)
class Span:
    """Signs of one look, from a column on, and how many columns they take."""

    column: int
    width: int
    text: str
    look: Look


Row = tuple[Span, ...]


@dataclass(frozen=True)
class Frame:
    rows: tuple[Row, ...]
    seconds: float


def typed(command: str) -> tuple[Written, ...]:
    """Return how a person types a command after the prompt."""
    words = command.split(" ")
    texts = [PROMPT, *(f"{word} " for word in words[:-1]), f"{words[-1]}\r\n"]
    return tuple(Written(TYPED_S, text) for text in texts)


def paced(said: Iterable[Written]) -> Iterator[Written]:
    """Shorten waits, and spread over time what came at once, line by line."""
    for one in said:
        first, *lines = one.text.splitlines(keepends=True) or [""]
        yield Written(min(one.after_s, IDLE_S), first)
        for line in lines:
            yield Written(LINE_S, line)


def play(said: Sequence[Written], size: Size) -> tuple[Frame, ...]:
    """Return what is shown, and for how long; `after_s` of the next text ends it."""
    screen = pyte.Screen(size.columns, size.rows)
    stream = pyte.Stream(screen)
    frames: list[Frame] = []
    waited = 0.0
    following = [*(one.after_s for one in said[1:]), LAST_S]
    for one, seconds in zip(said, following, strict=True):
        stream.feed(one.text)
        waited += seconds
        if waited >= FRAME_S:
            _show(frames, Frame(_rows(screen), waited))
            waited = 0.0
    return tuple(_without_long_waits(frames))


def _without_long_waits(frames: Sequence[Frame]) -> Iterator[Frame]:
    for _, alike in groupby(frames, _without_clock):
        shown_s = 0.0
        for frame in alike:
            if shown_s < CLOCK_S:
                yield frame
            shown_s += frame.seconds


def _without_clock(frame: Frame) -> tuple[str, ...]:
    """Return the words of a frame, without what only a clock or a spinner changes."""
    return tuple(
        _CLOCK.sub("", " ".join(span.text for span in row)) for row in frame.rows
    )


def _show(frames: list[Frame], frame: Frame) -> None:
    if frames and frames[-1].rows == frame.rows:
        frames[-1] = replace(frame, seconds=frames[-1].seconds + frame.seconds)
    else:
        frames.append(frame)


def _rows(screen: pyte.Screen) -> tuple[Row, ...]:
    return tuple(
        tuple(_spans([screen.buffer[y][x] for x in range(screen.columns)]))
        for y in range(screen.lines)
    )


def _spans(cells: Sequence[Char]) -> Iterator[Span]:
    """Group the cells of a line; a wide sign stands alone, as fonts draw it freely."""

    def alike(at: int) -> tuple[Look, int]:
        wide = at + 1 < len(cells) and not cells[at + 1].data
        return _look(cells[at]), at if wide or not cells[at].data else -1

    for (look, _), group in groupby(range(len(cells)), alike):
        columns = list(group)
        text = "".join(cells[at].data for at in columns)
        if text.strip() or (text and look.ground != "default"):
            blank = len(text) - len(text.lstrip())
            start = 0 if look.ground != "default" else blank
            kept = text[start:] if look.ground != "default" else text.strip()
            at = columns[0] + start
            wide = at + 1 < len(cells) and not cells[at + 1].data
            yield Span(at, len(kept) + wide, kept, look)


def _look(cell: Char) -> Look:
    colours = (cell.bg, cell.fg) if cell.reverse else (cell.fg, cell.bg)
    return Look(*colours, bold=cell.bold)
