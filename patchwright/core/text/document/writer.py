"""Write a document as Markdown in which every sign of its words is a sign.

Made for words of others: what they hold is escaped, whether it could be markup where it
stands or not. Each line is whole by itself, so that a mark can be put in front of it.
"""

import re
from collections.abc import Iterator
from typing import Final

from patchwright.core.text.document import types as doc
from patchwright.core.text.escape import inline_code

# What was left out stays `[…]`, which no definition of ours makes a link.
# https://spec.commonmark.org/0.31.2/#backslash-escapes; `$` begins formulas on GitHub.
_SIGNS: Final = re.compile(
    r"\\(?=[!-/:-@\[-`{-~]|\Z)|[`*~]|\[(?!…\](?![(\[:]))|\$(?!\d)"
    r"|(?<![^\W_])_|_(?![^\W_])",
    re.MULTILINE,
)
_TAG: Final = re.compile(r"<(?=[A-Za-z/!?])")
_ENTITY: Final = re.compile(r"&(?=#?\w{1,31};)")
_AT_START: Final = re.compile(r"[-=>#|]|[+:](?!\w)|[/!](?=\w)|\d{1,9}(?=[.)])")
_LARGEST_NUMBER: Final = 99_999_999
_TICKS: Final = re.compile("`+")


def write_document_lines(blocks: doc.Blocks) -> list[str]:
    """Return the lines of paragraphs, lists, quotes and code; else the words alone."""
    lines: list[str] = []
    for block in blocks:
        written = _block(block)
        lines += ["", *written] if lines and written else written
    return lines


def write_document_line(inlines: doc.Inlines) -> str:
    """Return the inlines in one line that begins no block."""
    return _started(" ".join(_inlines(inlines).split("\n")).strip())


def _block(block: doc.Block) -> list[str]:
    match block:
        case doc.CodeBlock(text, language):
            return _code(text, language)
        case doc.BlockQuote(inner):
            return [f"> {line}".rstrip() for line in write_document_lines(inner)]
        case doc.ListBlock():
            return list(_items(block))
        case doc.Paragraph(children):
            lines = (line.strip() for line in _inlines(children).split("\n"))
            return [_started(line) for line in lines if line]
        case _:
            return []


def _items(items: doc.ListBlock) -> Iterator[str]:
    start = items.start
    for number, item in enumerate(items.items):
        known = None if start is None else min(start, _LARGEST_NUMBER) + number
        mark = "-" if known is None else f"{known}."
        lines = _item(item)
        if not lines:
            continue  # Marks of empty entries in a row would be a rule.
        first, *others = lines
        yield f"{mark} {first}".rstrip()
        indent = " " * (len(mark) + 1)
        yield from (f"{indent}{line}".rstrip() for line in others)


def _item(item: doc.ListItem) -> list[str]:
    """Put a list right below the words of the entry that it belongs to."""
    match item.blocks:
        case (doc.Paragraph() as first, doc.ListBlock(start=None) as inner, *rest):
            lines = [*_block(first), *_block(inner)]
            others = write_document_lines(tuple(rest))
            return [*lines, "", *others] if lines and others else lines or others
        case _:
            return write_document_lines(item.blocks)


def _code(text: str, language: str) -> list[str]:
    longest = max((len(run) for run in _TICKS.findall(text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return [f"{ticks}{language}", *text.split("\n"), ticks]


def _inlines(inlines: doc.Inlines) -> str:
    text = ""
    for number, inline in enumerate(inlines):
        part = _inline(inline)
        if isinstance(inline, doc.Strong | doc.Emphasis):
            mark = "**" if isinstance(inline, doc.Strong) else "*"
            after = doc.plain_text(inlines[number + 1 : number + 2])
            part = _marked(mark, part, text[-1:], after[:1])
        if isinstance(inline, doc.Hyperlink) and text.endswith("!"):
            text = f"{text[:-1]}\\!"
        # Two runs of backticks that touch would be one.
        gap = " " if text.endswith("`") and part.startswith("`") else ""
        text += gap + part
    return text


def _inline(inline: doc.Inline) -> str:
    match inline:
        case doc.Code(text):
            return inline_code(text) if text.strip() else ""
        case doc.Hyperlink(url, children):
            return f"[{_inlines(children).replace(']', chr(92) + ']')}]({url})"
        case doc.Strong(children) | doc.Emphasis(children):
            return _inlines(children)
        case doc.LineBreak():
            return "\n"
        case _:
            return _escaped(doc.plain_text((inline,)))


def _escaped(text: str) -> str:
    text = _ENTITY.sub("&amp;", text)
    text = _SIGNS.sub(r"\\\g<0>", text)
    return _TAG.sub("&lt;", text)


def _started(line: str) -> str:
    """Escape what would begin a block of its own."""
    found = _AT_START.match(line)
    if found is None:
        return line
    number = found[0] if found[0].isdigit() else ""
    return f"{number}\\{line[len(number) :]}"


def _marked(mark: str, text: str, before: str, after: str) -> str:
    """Put marks around what they can hold, or none.

    https://spec.commonmark.org/0.31.2/#left-flanking-delimiter-run
    """
    inner = text.strip()
    if not inner or "\n" in inner:
        return text
    start, _, end = text.partition(inner)
    opens = start or _may_stand(before, inner[0])
    closes = end or _may_stand(after, inner[-1])
    return f"{start}{mark}{inner}{mark}{end}" if opens and closes else text


def _may_stand(outside: str, inside: str) -> bool:
    return outside != "*" and (inside.isalnum() or not outside.isalnum())
