"""What a change did to a text: its diff, and the lines around it as they are now."""

from __future__ import annotations

import difflib
import re
from itertools import groupby
from typing import Iterator, NamedTuple

MAX_DIFF_LINES = 20_000
MAX_DIFF_CHARACTERS = 20_000
NO_NEWLINE = "\n\\ No newline at end of file\n"

MAX_PLACES = 5
MAX_PLACE_LINES = 16
MAX_LINE_CHARACTERS = 200
_PLACE = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")


class ChangeReport(NamedTuple):
    """A unified diff, and an excerpt of the file: what the model reads of it."""

    diff: str
    excerpt: str


def report_change(path: str, old: str | None, new: str) -> ChangeReport:
    """Report what became of a text; `old` is None where there was no file."""
    old_lines, new_lines = _with_ends(old or ""), _with_ends(new)
    if old is not None and max(len(old_lines), len(new_lines)) > MAX_DIFF_LINES:
        return ChangeReport(f"{path} is too long for a diff\n", "")
    lines = list(
        difflib.unified_diff(
            old_lines,
            new_lines,
            "/dev/null" if old is None else f"a/{path}",
            f"b/{path}",
        )
    )
    if old is None:
        # Who has written a whole file knows what is in it.
        excerpt = f"[created; {_count(len(new_lines))}]"
    else:
        excerpt = _show_places(lines[2:])
    return ChangeReport(_join(lines), excerpt)


def _with_ends(text: str) -> list[str]:
    """Return the lines that `read` counts: what else separates lines is in them."""
    *lines, last = text.split("\n")
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def _join(lines: list[str]) -> str:
    text = "".join(line if line.endswith("\n") else line + NO_NEWLINE for line in lines)
    if len(text) <= MAX_DIFF_CHARACTERS:
        return text
    left_out = len(text) - MAX_DIFF_CHARACTERS
    return f"{text[:MAX_DIFF_CHARACTERS]}\n[... {left_out} more ...]\n"


def _show_places(lines: list[str]) -> str:
    """Show the lines around each change, numbered as `read` does it."""
    starts = [n for n, line in enumerate(lines) if _PLACE.match(line)]
    places = [lines[start:end] for start, end in zip(starts, [*starts[1:], len(lines)])]
    shown = [_show_place(place) for place in places[:MAX_PLACES]]
    left_out = len(places) - MAX_PLACES
    if left_out > 0:
        shown.append(f"[... changed in {left_out} more places ...]")
    return "\n   ...\n".join(shown)


def _show_place(lines: list[str]) -> str:
    header, *body = lines
    found = _PLACE.match(header)
    shown = list(_number_lines(body, int(found.group(1)) if found else 1))
    if len(shown) > MAX_PLACE_LINES:
        half = MAX_PLACE_LINES // 2
        shown[half:-half] = [f"[... {len(shown) - 2 * half} more lines ...]"]
    return "\n".join(shown)


def _number_lines(lines: list[str], first: int) -> Iterator[str]:
    """Give each line that is there now its number, and count what was taken out."""
    number, removed = first, 0
    for sign, run in groupby(lines, key=lambda line: line[0]):
        same = list(run)
        if sign == "-":
            removed = len(same)
            continue
        if removed and sign == " ":
            yield f"[{_count(removed)} removed here]"
        removed = 0
        for line in same:
            yield f"{number:>6}\t{_truncate_line(line[1:])}"
            number += 1
    if removed:
        yield f"[{_count(removed)} removed here]"


def _truncate_line(line: str) -> str:
    text = line.rstrip("\r\n")
    if len(text) <= MAX_LINE_CHARACTERS:
        return text
    dropped = len(text) - MAX_LINE_CHARACTERS
    return f"{text[:MAX_LINE_CHARACTERS]} [... {dropped} more characters ...]"


def _count(lines: int) -> str:
    return "1 line" if lines == 1 else f"{lines} lines"
