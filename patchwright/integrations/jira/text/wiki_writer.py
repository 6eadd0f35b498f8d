"""Write Markdown as wiki markup, which data centers want."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final, assert_never

from patchwright.core.text.document import types as doc
from patchwright.core.text.document.reader import read_document
from patchwright.integrations.jira.text.layout import (
    Style,
    StyledRun,
    length_in_jira,
    styled_runs,
    truncate_document,
    with_checkbox,
)

# A backslash takes the meaning from some signs, but not from all:
# https://docs.atlassian.com/atlassian-renderer/5.0/apidocs/com/atlassian/renderer/v2/components/BackslashEscapeRendererComponent.html
# Entities stay what they are:
# https://docs.atlassian.com/atlassian-renderer/5.0/apidocs/com/atlassian/renderer/v2/components/HtmlEscaper.html
# Between letters, and some between blanks, a sign means nothing: `snake_case`, `a - b`.
_MARKUP: Final = re.compile(
    r"""
    (?P<entity>
        [\\|]
      | &(?=\#?\w{1,31};)
      | [:;](?=-?[()DPp])              # a smiley
    )
    | [{}\[\]~^]
    | (?<=\[)@
    | (?<![A-Za-z0-9\s])[*_+-] | [*_+-](?![A-Za-z0-9\s])
    | (?<=\s)[*_+-](?!\s) | (?<!\s)[*_+-](?=\s)
    | (?<=\?)\? | \?(?=\?)
    | !(?!\s)
    | \((?=(?:[yni!/x+?*-]|\*[rgby]|on|off|flag|flagoff)\))
    """,
    re.VERBOSE,
)
_STARTS_A_BLOCK: Final = re.compile(r"\A(?:(?P<word>h[1-6]|bq)\.|#)")
_SIGN_IN_CODE: Final = re.compile(
    r"[!&()?@\[\\\]^{|}~#]|(?<![A-Za-z0-9])[*_+-]|[*_+-](?![A-Za-z0-9])"
    r"|[:;](?=-?[DPp])|:(?=//)|(?<=mailto):|\A | \Z"
)
# Whom Jira tells about a text it finds in the source, be it code or not: links that
# begin with one of these signs. No name has a blank of no width in it.
_CALL_IN_CODE: Final = re.compile(r"\[(?=[~@])")
_NOFORMAT_IN_CODE: Final = re.compile(r"\{(?=noformat\b)")
_NO_NAME: Final = re.compile(r"[\\,|\[\]{}\r\n]")
_NO_WIDTH: Final = "\u200b"
_NO_TITLE: Final = re.compile(r"[{}|\[\]\\=\s]+")
# Others are shown with an error, says Jira's editor:
# https://app.unpkg.com/@atlaskit/editor-wikimarkup-transformer@11.20.13/files/dist/es2019/encoder/nodes/code-block.js
_LANGUAGES: Final = frozenset(
    {
        *("actionscript", "ada", "applescript", "bash", "c", "c#", "c++", "cpp"),
        *("css", "erlang", "go", "groovy", "haskell", "html", "java", "javascript"),
        *("js", "json", "lua", "objc", "perl", "php", "python", "r", "ruby", "scala"),
        *("sh", "sql", "swift", "visualbasic", "xml", "yaml"),
    }
)


def escape_words(text: str, *, starts_line: bool) -> str:
    escaped = _MARKUP.sub(_escaped, text)
    return _STARTS_A_BLOCK.sub(_unstarted, escaped) if starts_line else escaped


def inline_code(text: str) -> str:
    """Return code in a line: markup is read in there too, and no backslash helps."""
    return f"{{{{{_SIGN_IN_CODE.sub(_entity, text)}}}}}"


def code_block(text: str, language: str) -> str:
    """Return lines of code; only what would call somebody, or end them, is broken."""
    text = _CALL_IN_CODE.sub(f"[{_NO_WIDTH}", text)
    if language.lower() in _LANGUAGES and "{code" not in text:
        return f"{{code:{language.lower()}}}\n{text}\n{{code}}"
    text = _NOFORMAT_IN_CODE.sub(f"{{{_NO_WIDTH}", text)
    return f"{{noformat}}\n{text}\n{{noformat}}"


def mention(person_id: str, name: str) -> str:
    """Return a mention, or the name alone if there can be no such user."""
    if not person_id or _NO_NAME.search(person_id):
        return escape_words(f"@{name}", starts_line=False)
    return f"[~{person_id}]"


def panel_title(text: str) -> str:
    """Return words as the title of a panel, in which nothing can be escaped."""
    return _NO_TITLE.sub(" ", text).strip()


def _escaped(sign: re.Match[str]) -> str:
    return _entity(sign) if sign["entity"] else f"\\{sign[0]}"


def _entity(sign: re.Match[str]) -> str:
    return f"&#{ord(sign[0])};"


def _unstarted(start: re.Match[str]) -> str:
    return f"{start['word']}&#46;" if start["word"] else f"\\{start[0]}"


# https://jira.atlassian.com/secure/WikiRendererHelpAction.jspa?section=texteffects
_SIGNS: Final = {Style.STRONG: "*", Style.EMPHASIS: "_", Style.STRIKE: "-"}
_BREAK: Final = " \\\\ "


def write_lines(inlines: doc.Inlines, *styles: Style) -> list[str]:
    """Return lines, none of them empty: that would end a paragraph."""
    lines: list[list[StyledRun]] = [[]]
    for run in styled_runs(inlines, *styles):
        if isinstance(run.leaf, doc.LineBreak):
            lines.append([])
        else:
            lines[-1].append(run)
    written = (_line(line).strip() for line in lines)
    return [line for line in written if line]


def write_line(inlines: doc.Inlines, *styles: Style) -> str:
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
        case doc.PlainText(text):
            return escape_words(
                text.lstrip() if starts_line else text, starts_line=starts_line
            )
        case doc.Code(text):
            return inline_code(text)
        case doc.Mention(person_id, name):
            return mention(person_id, name)
        case doc.LineBreak():
            return " "
        case _:
            assert_never(run.leaf)


def _shown(run: StyledRun) -> str:
    match run.leaf:
        case doc.PlainText(text) | doc.Code(text):
            return text
        case doc.Mention(_, name):
            return name
        case doc.LineBreak():
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


def lines_of_cells(cells: tuple[doc.Inlines, ...]) -> Iterator[str]:
    """Write cells of a table; an empty one would be taken for a border."""
    return (write_line(cell) or " " for cell in cells)


_EMPTY: Final = "&nbsp;"


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """What is open around a block: a box of one kind holds no other of that kind."""

    marks: str = ""
    in_quote: bool = False
    in_panel: bool = False


def to_wiki(markdown: str) -> str:
    """Return a text that fits into a comment."""
    return _write(truncate_document(read_document(markdown), _size), _Surroundings())


def _size(blocks: doc.Blocks) -> int:
    return length_in_jira(_write(blocks, _Surroundings()))


def _write(blocks: doc.Blocks, place: _Surroundings) -> str:
    written = (_block(block, place) for block in blocks)
    return "\n\n".join(text for text in written if text)


def _block(block: doc.Block, place: _Surroundings) -> str:
    match block:
        case doc.Paragraph(children):
            return "\n".join(write_lines(children))
        case doc.Heading(level, children):
            line = write_line(children)
            return f"h{min(max(level, 1), 6)}. {line}" if line else ""
        case doc.CodeBlock(text, language):
            return code_block(text, language)
        case doc.BlockQuote(inner, alert) if alert:
            return _panel((doc.PlainText(alert.capitalize()),), inner, place)
        case doc.BlockQuote(inner):
            return _quote(inner, place)
        case doc.ListBlock(items, start):
            mark = "*" if start is None else "#"
            inside = replace(place, marks=place.marks + mark)
            return "\n".join(_entry(item, inside) for item in items)
        case doc.Table(head, rows):
            return "\n".join([_row(head, "||"), *(_row(row, "|") for row in rows)])
        case doc.HorizontalRule():
            return "----"
        case doc.Details(title, inner):
            return _panel(title, inner, place)
        case _:
            assert_never(block)


def _quote(blocks: doc.Blocks, place: _Surroundings) -> str:
    body = _write(blocks, replace(place, in_quote=True))
    return body if place.in_quote or not body else f"{{quote}}\n{body}\n{{quote}}"


def _panel(title: doc.Inlines, blocks: doc.Blocks, place: _Surroundings) -> str:
    """Return a box with a title: nothing in wiki markup can be opened and closed."""
    body = _write(blocks, replace(place, in_panel=True))
    if place.in_panel:
        return "\n\n".join(filter(None, [write_line(title, Style.STRONG), body]))
    return f"{{panel:title={panel_title(doc.plain_text(title))}}}\n{body}\n{{panel}}"


def _entry(item: doc.ListItem, place: _Surroundings) -> str:
    """Write an entry of a list, which an empty line would end."""
    text = ""
    for block in with_checkbox(item):
        if isinstance(block, doc.Paragraph | doc.Heading):
            line = write_line(block.children)
            text += f"{_between(text)}{line}" if text and line else line
        else:
            text += f"\n{_block(block, place)}"
    if (
        text.startswith("\n")
        and item.blocks
        and isinstance(item.blocks[0], doc.ListBlock)
    ):
        return text.removeprefix("\n")
    return f"{place.marks} {text.strip(chr(10)) or _EMPTY}"


def _between(text: str) -> str:
    """Return what parts a paragraph from what stands before it in an entry."""
    return "\n" if text.endswith("}") else " \\\\ "


def _row(cells: tuple[doc.Inlines, ...], border: str) -> str:
    return f"{border}{border.join(lines_of_cells(cells))}{border}" if cells else ""
