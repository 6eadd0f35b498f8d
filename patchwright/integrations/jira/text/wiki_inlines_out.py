"""Write the inlines of a document as wiki markup."""

from collections.abc import Iterator
from itertools import groupby
from typing import Final, assert_never

from patchwright.core.text.document.types import Mention, Code, Inlines, LineBreak, PlainText
from patchwright.integrations.jira.text.runs import StyledRun, Style, styled_runs
from patchwright.integrations.jira.text.wiki_escape import (
    mention,
    inline_code,
    escape_words,
)

# https://jira.atlassian.com/secure/WikiRendererHelpAction.jspa?section=texteffects
_SIGNS: Final = {Style.STRONG: "*", Style.EMPHASIS: "_", Style.STRIKE: "-"}
_BREAK: Final = " \\\\ "


def write_lines(inlines: Inlines, *styles: Style) -> list[str]:
    """Return lines, none of them empty: that would end a paragraph."""
    lines: list[list[StyledRun]] = [[]]
    for run in styled_runs(inlines, *styles):
        if isinstance(run.leaf, LineBreak):
            lines.append([])
        else:
            lines[-1].append(run)
    written = (_line(line).strip() for line in lines)
    return [line for line in written if line]


def write_line(inlines: Inlines, *styles: Style) -> str:
    """Return one line, with breaks in it."""
    return _BREAK.join(write_lines(inlines, *styles))


def _line(runs: list[StyledRun]) -> str:
    text = ""
    for address, linked in groupby(runs, lambda run: run.address):
        group = list(linked)
        label = _written(group, starts_line=not text.strip())
        plain = "".join(_shown(run) for run in group)
        if not address or not label.strip():
            text += label
        elif plain == address:
            text += f"[{address}]"
        else:
            text += f"[{_unmentioned(label)}|{address}]"
    return text


def _unmentioned(label: str) -> str:
    """Escape what would make a mention of a link."""
    return f"\\{label}" if label.startswith("@") else label


def _written(runs: list[StyledRun], *, starts_line: bool) -> str:
    text = ""
    for run, following in zip(runs, [*runs[1:], None], strict=True):
        words = _leaf(run, starts_line=starts_line and not text.strip())
        before, after = text[-1:], _shown(following)[:1] if following else ""
        text += _styled(words, run.styles, before, after)
    return text


def _leaf(run: StyledRun, *, starts_line: bool) -> str:
    match run.leaf:
        case PlainText(text):
            return escape_words(
                text.lstrip() if starts_line else text, starts_line=starts_line
            )
        case Code(text):
            return inline_code(text)
        case Mention(person_id, name):
            return mention(person_id, name)
        case LineBreak():
            return " "
        case _:
            assert_never(run.leaf)


def _shown(run: StyledRun) -> str:
    match run.leaf:
        case PlainText(text) | Code(text):
            return text
        case Mention(_, name):
            return name
        case LineBreak():
            return " "
        case _:
            assert_never(run.leaf)


def _styled(words: str, styles: tuple[Style, ...], before: str, after: str) -> str:
    signs = [_SIGNS[style] for style in styles if style in _SIGNS]
    inner = words.strip()
    if not signs or not inner:
        return words
    touches = _touches(before, words[:1]) or _touches(after, words[-1:])
    opening = "".join(f"{{{sign}}}" if touches else sign for sign in signs)
    closing = "".join(f"{{{sign}}}" if touches else sign for sign in reversed(signs))
    start = words.index(inner)
    return f"{words[:start]}{opening}{inner}{closing}{words[start + len(inner) :]}"


def _touches(neighbour: str, own: str) -> bool:
    """Tell whether a sign in between would be one inside a word, or meet another."""
    if own.isspace() or not neighbour or neighbour.isspace():
        return False
    return neighbour.isalnum() or neighbour in "*_-}"


def lines_of_cells(cells: tuple[Inlines, ...]) -> Iterator[str]:
    """Write cells of a table; an empty one would be taken for a border."""
    return (write_line(cell) or " " for cell in cells)
