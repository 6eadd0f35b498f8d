"""Terminal output as HTML: its colors become classes, nothing else of it counts.

The sequences are those of ECMA-48; of them "select graphic rendition" (SGR) alone is
followed. https://www.ecma-international.org/publications-and-standards/standards/ecma-48/
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from markupsafe import Markup, escape

# More changes of color than this say nothing more, and make a page heavy.
_MOST_SPANS: Final = 600

_SEQUENCE: Final = re.compile(
    r"""
    (?:\x1b\[|\x9b)(?P<sgr>[0-9;:]{0,64})m   # colors and weight
    | (?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?      # any other control sequence
    | (?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])   # a string: title, link, picture ...
      [^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?
    | \x1b[ -/]*[0-~]?                       # any other escape
    | [\x00-\x08\x0b-\x1f\x7f-\x9f]          # any other control character
    """,
    re.VERBOSE,
)


@dataclass(frozen=True)
class _Style:
    """Colors are numbers from 0 to 15, None for the page's own."""

    bold: bool = False
    dim: bool = False
    italic: bool = False
    underlined: bool = False
    inverse: bool = False
    front: int | None = None
    back: int | None = None

    @property
    def classes(self) -> str:
        marks = {
            "t-bold": self.bold,
            "t-dim": self.dim,
            "t-italic": self.italic,
            "t-line": self.underlined,
        }
        names = [name for name, is_set in marks.items() if is_set]
        front, back = self.front, self.back
        if self.inverse:
            front, back = back, front
            if front is None and back is None:
                return " ".join([*names, "t-inverse"])
        if front is not None:
            names.append(f"t-f{front}")
        if back is not None:
            names.append(f"t-b{back}")
        return " ".join(names)


_PLAIN: Final = _Style()


def terminal_html(text: str) -> Markup:
    """Return the text with its colors; whatever it says, it stays text."""
    # Put together by hand, as an output may have a thousand parts: `classes` are ours,
    # and the text is escaped.
    html = "".join(
        f'<span class="{classes}">{escape(part)}</span>' if classes else escape(part)
        for classes, part in _styled(text)
    )
    return Markup(html)  # noqa: S704 - escaped above


def plain_output(text: str) -> str:
    """Return the text without any control sequence."""
    return "".join(part for _, part in _styled(text))


def _styled(text: str) -> Iterator[tuple[str, str]]:
    text = "\n".join(map(_last_written, text.split("\n")))
    style, start, spans = _PLAIN, 0, 0
    for found in _SEQUENCE.finditer(text):
        if found.start() > start:
            yield style.classes, text[start : found.start()]
        start = found.end()
        if found["sgr"] is not None and spans < _MOST_SPANS:
            style, spans = _changed(style, found["sgr"]), spans + 1
            if spans == _MOST_SPANS:
                style = _PLAIN
    if start < len(text):
        yield style.classes, text[start:]


def _last_written(line: str) -> str:
    """Leave out what a program that shows progress has overwritten."""
    return line.rstrip("\r").rpartition("\r")[2]


_SWITCHES: Final[dict[int, dict[str, bool]]] = {
    1: {"bold": True},
    2: {"dim": True},
    3: {"italic": True},
    4: {"underlined": True},
    7: {"inverse": True},
    21: {"bold": False},
    22: {"bold": False, "dim": False},
    23: {"italic": False},
    24: {"underlined": False},
    27: {"inverse": False},
}
_FRONT, _BACK = 38, 48
_FRONT_DEFAULT, _BACK_DEFAULT = 39, 49


def _changed(style: _Style, codes: str) -> _Style:
    numbers = iter([int(one[:4] or 0) for one in re.split("[;:]", codes)])
    for code in numbers:
        if code == 0:
            style = _PLAIN
        elif code in _SWITCHES:
            style = replace(style, **_SWITCHES[code])
        elif code in (_FRONT, _BACK):
            color = _extended(numbers)
            style = (
                replace(style, front=color)
                if code == _FRONT
                else replace(style, back=color)
            )
        else:
            style = _with_basic_color(style, code)
    return style


def _with_basic_color(style: _Style, code: int) -> _Style:
    if code == _FRONT_DEFAULT:
        return replace(style, front=None)
    if code == _BACK_DEFAULT:
        return replace(style, back=None)
    for first, field, offset in (
        (30, "front", 0),
        (40, "back", 0),
        (90, "front", 8),
        (100, "back", 8),
    ):
        if first <= code < first + 8:
            color = code - first + offset
            return (
                replace(style, front=color)
                if field == "front"
                else replace(style, back=color)
            )
    return style


def _extended(numbers: Iterator[int]) -> int | None:
    """Read a color of 256, or of 16 million, as the most alike of 16.

    Those have a shade for light and one for dark pages: any other might not be read.
    """
    match next(numbers, 0):
        case 5:
            return _of_256(min(next(numbers, 0), 255))
        case 2:
            red, green, blue = (min(next(numbers, 0), 255) for _ in range(3))
            return _nearest(red, green, blue)
        case _:
            return None


_NAMED: Final = 16
_FIRST_GRAY: Final = 232
_CUBE: Final = (0, 95, 135, 175, 215, 255)


def _of_256(number: int) -> int:
    """Look up an index of xterm's table: 16 colors, a cube of 6, 24 grays."""
    if number < _NAMED:
        return number
    if number >= _FIRST_GRAY:
        gray = 8 + 10 * (number - _FIRST_GRAY)
        return _nearest(gray, gray, gray)
    red, rest = divmod(number - _NAMED, 36)
    green, blue = divmod(rest, 6)
    return _nearest(_CUBE[red], _CUBE[green], _CUBE[blue])


_SIXTEEN: Final = (
    (0, 0, 0),
    (205, 0, 0),
    (0, 205, 0),
    (205, 205, 0),
    (0, 0, 238),
    (205, 0, 205),
    (0, 205, 205),
    (229, 229, 229),
    (127, 127, 127),
    (255, 0, 0),
    (0, 255, 0),
    (255, 255, 0),
    (92, 92, 255),
    (255, 0, 255),
    (0, 255, 255),
    (255, 255, 255),
)


# Bounded: output chooses among 16 million.
@lru_cache(maxsize=4096)
def _nearest(red: int, green: int, blue: int) -> int:
    wanted = (red, green, blue)

    def distance(index: int) -> int:
        pairs = zip(_SIXTEEN[index], wanted, strict=True)
        return sum((a - b) ** 2 for a, b in pairs)

    return min(range(16), key=distance)
