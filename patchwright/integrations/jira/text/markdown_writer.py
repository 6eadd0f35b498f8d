"""Write a document as Markdown."""

import re
from collections.abc import Callable, Iterator
from typing import Final, assert_never

from patchwright.core.text.document import types as doc
from patchwright.integrations.jira.text.layout import safe_address

# https://spec.commonmark.org/0.31.2/#backslash-escapes; what cannot become markup stays
# bare, as a model reads the source: `snake_case`, `a < b`, `C:\dir`.
_MARKUP: Final = re.compile(
    r"""
      \\(?=[!-/:-@\[-`{-~]|\Z)      # a backslash that would escape something
    | (?<!\s)\* | \*(?!\s)
    | (?<![^\W_])_ | _(?![^\W_])
    | `
    | \](?=[(:\[])                   # the end of a label
    | !(?=\[)
    | <(?=[A-Za-z/!?])
    | (?<=<)!                        # a comment: our marks are found in the source
    | &(?=\#?\w{1,31};)
    | ~(?=~) | (?<=~)~
    """,
    re.VERBOSE,
)
_STARTS_A_BLOCK: Final = re.compile(
    r"(?P<before>)(?P<sign>[-+*](?=\s|-|\Z)|\#{1,6}(?=\s|\Z)|>|\||=+(?=\s*\Z)|:(?=-))"
    r"|(?P<number>\d{1,9})(?P<dot>[.)])(?=\s|\Z)"
)
_TICKS: Final = re.compile("`+")


def escape_words(text: str, *, starts_line: bool) -> str:
    escaped = _MARKUP.sub(r"\\\g<0>", text)
    return _escape_start(escaped) if starts_line else escaped


def escape_label(text: str) -> str:
    """Escape words inside the brackets of a link."""
    bare = re.sub(r"\\(?=\])", "", escape_words(text, starts_line=False))
    return re.sub(r"[\[\]]", r"\\\g<0>", bare)


def code_span(text: str) -> str:
    """Return text as code in a line; line ends become blanks, as they would anyway."""
    text = text.replace("\n", " ")
    if not text:
        return ""
    ticks = _ticks_beyond(text, least=0)
    clings = text.startswith("`") or text.endswith("`")
    padded = text.strip(" ") and text.startswith(" ") and text.endswith(" ")
    pad = " " if clings or padded else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def fence(text: str) -> str:
    """Return a fence that nothing in the text closes."""
    return _ticks_beyond(text, least=2)


def _ticks_beyond(text: str, *, least: int) -> str:
    return "`" * (max([least, *map(len, _TICKS.findall(text))]) + 1)


def _escape_start(text: str) -> str:
    found = _STARTS_A_BLOCK.match(text)
    if found is None:
        return text
    if found["number"]:
        return f"{found['number']}\\{text[found.start('dot') :]}"
    return f"\\{text}"


MentionName = Callable[[doc.Mention], str]

_STYLED: Final = (doc.Strong, doc.Emphasis, doc.Strike, doc.Subscript)
_MARKS: Final = {
    doc.Strong: "**",
    doc.Emphasis: "*",
    doc.Strike: "~~",
    doc.Subscript: "",
}
# What a mention must not touch to be read as one.
_TOUCHES_BEFORE: Final = re.compile(r"[\w@/+]\Z")
_TOUCHES_AFTER: Final = re.compile(r"[\w@/.-]")


def name_with_at(call: doc.Mention) -> str:
    return f"@{call.name}"


def write_inlines(inlines: doc.Inlines, named: MentionName = name_with_at) -> str:
    """Return Markdown without a mark that calls anybody on a service.

    `named` says how a mention is written, as words.
    """
    # What two neighbouring texts make together is escaped too.
    return _InlineWriter(named).write(doc.join_texts(inlines))


class _InlineWriter:
    def __init__(self, named: MentionName) -> None:
        self._named = named

    def write(self, inlines: doc.Inlines) -> str:
        text = ""
        called = False
        for number, inline in enumerate(inlines):
            following = inlines[number + 1 : number + 2]
            starts = not text or text.endswith("\n")
            part = self._inline(inline, following, starts=starts)
            if isinstance(inline, _STYLED):
                after = doc.plain_text(following)
                part = _wrapped(_MARKS[type(inline)], part, text[-1:], after[:1])
            if isinstance(inline, doc.Mention) and _TOUCHES_BEFORE.match(text[-1:]):
                text += " "
            if called and _TOUCHES_AFTER.match(part):
                text += " "
            text += part
            called = isinstance(inline, doc.Mention)
        return text

    def _inline(
        self, inline: doc.Inline, following: doc.Inlines, *, starts: bool
    ) -> str:
        match inline:
            case doc.PlainText(text):
                return _words(text, following, starts=starts)
            case doc.Code(text):
                return code_span(text)
            case doc.Strong() | doc.Emphasis() | doc.Strike() | doc.Subscript():
                return self.write(inline.children)
            case doc.Hyperlink(url, children):
                return self._link(url, children)
            case doc.Mention():
                return escape_words(self._named(inline), starts_line=False)
            case doc.InlineImage(url, alt):
                return _picture(url, alt)
            case doc.LineBreak():
                return "\n"
            case _:
                assert_never(inline)

    def _link(self, url: str, children: doc.Inlines) -> str:
        address = safe_address(url)
        if not address:
            return self.write(children)
        label = doc.plain_text(children).strip()
        if label in {"", url, address}:
            return f"<{address}>"
        match children:
            case (doc.Code(text),):
                return f"[{code_span(text)}]({address})"
            case _:
                return f"[{escape_label(' '.join(label.split()))}]({address})"


def _words(text: str, following: doc.Inlines, *, starts: bool) -> str:
    words = text.lstrip() if starts else text
    match following:
        case (doc.Hyperlink(),):
            # Its bracket would make a picture of it, or a link of other brackets.
            return escape_words(f"{words}[", starts_line=starts).removesuffix("[")
        case _:
            return escape_words(words, starts_line=starts)


def _picture(url: str, alt: str) -> str:
    address = safe_address(url)
    words = escape_label(" ".join(alt.split()))
    return f"![{words}]({address})" if address else words


def _wrapped(mark: str, text: str, before: str, after: str) -> str:
    """Put marks around what they can hold, or none.

    They touch no blank and no other marks, and don't stand between a sign and a letter:
    https://spec.commonmark.org/0.31.2/#left-flanking-delimiter-run
    """
    inner = text.strip()
    if not inner:
        return text
    start, _, end = text.partition(inner)
    opens = start or _may_stand(before, inner[0])
    closes = end or _may_stand(after, inner[-1])
    return f"{start}{mark}{inner}{mark}{end}" if opens and closes else text


def _may_stand(outside: str, inside: str) -> bool:
    return outside not in {"*", "~"} and (inside.isalnum() or not outside.isalnum())


_LANGUAGE: Final = re.compile(r"[\w+#.-]{1,20}", re.ASCII)
_LARGEST_NUMBER: Final = 99_999_999


def write_markdown(blocks: doc.Blocks, named: MentionName = name_with_at) -> str:
    return "\n".join(_BlockWriter(named).write(blocks))


class _BlockWriter:
    """Writes lines; `named` says how a mention is written, as words."""

    def __init__(self, named: MentionName) -> None:
        self._named = named

    def write(self, blocks: doc.Blocks, *, tight: bool = False) -> list[str]:
        lines: list[str] = []
        before: doc.Block | None = None
        second = False
        for block in blocks:
            second = _would_join(before, block) and not second
            written = self._block(block, second=second)
            if not written:
                continue
            if lines and not (tight and _may_follow(before, block)):
                lines.append("")
            lines += written
            before = block
        return lines

    def _block(self, block: doc.Block, *, second: bool) -> list[str]:
        match block:
            case doc.Paragraph(children):
                return self._lines(children)
            case doc.Heading(level, children):
                return [f"{'#' * level} {line}" for line in self._line(children)]
            case doc.CodeBlock(text, language):
                return _code(text, language)
            case doc.BlockQuote(inner):
                return [f"> {line}".rstrip() for line in self.write(inner)]
            case doc.ListBlock():
                return list(self._items(block, second=second))
            case doc.Table(head, rows):
                return self._grid(head, rows)
            case doc.HorizontalRule():
                return ["___"]
            case doc.Details(title, inner):
                return self.write((doc.Paragraph((doc.Strong(title),)), *inner))
            case _:
                assert_never(block)

    def _lines(self, inlines: doc.Inlines) -> list[str]:
        lines = write_inlines(inlines, self._named).split("\n")
        return [line.strip() for line in lines if line.strip()]

    def _line(self, inlines: doc.Inlines) -> list[str]:
        """Return a single line, or none; what would end a heading is escaped."""
        line = " ".join(self._lines(inlines))
        if line.endswith("#") and not line.endswith("\\#"):
            line = f"{line[:-1]}\\#"
        return [line] if line else []

    def _items(self, items: doc.ListBlock, *, second: bool) -> Iterator[str]:
        for number, item in enumerate(items.items):
            mark = _mark(items.start, number, second=second)
            first, *others = self._item(item) or [""]
            yield f"{mark} {first}".rstrip()
            indent = " " * (len(mark) + 1)
            yield from (f"{indent}{line}".rstrip() if line else "" for line in others)

    def _item(self, item: doc.ListItem) -> list[str]:
        lines = self.write(item.blocks, tight=True)
        if item.checked is None or not lines:
            return lines
        return [f"[{'x' if item.checked else ' '}] {lines[0]}", *lines[1:]]

    def _grid(
        self, head: tuple[doc.Inlines, ...], rows: tuple[tuple[doc.Inlines, ...], ...]
    ) -> list[str]:
        divider = f"|{' --- |' * len(head)}"
        return [self._row(head), divider, *map(self._row, rows)]

    def _row(self, cells: tuple[doc.Inlines, ...]) -> str:
        return f"|{''.join(f' {self._cell(cell)} |' for cell in cells)}"

    def _cell(self, inlines: doc.Inlines) -> str:
        text = "<br>".join(self._lines(inlines))
        return re.sub(r"(?<!\\)\|", r"\\|", text)


def _would_join(before: doc.Block | None, block: doc.Block) -> bool:
    """Tell whether two lists would be one, unless their marks differ."""
    if not (isinstance(before, doc.ListBlock) and isinstance(block, doc.ListBlock)):
        return False
    return (before.start is None) == (block.start is None)


def _may_follow(before: doc.Block | None, block: doc.Block) -> bool:
    """Tell whether a list needs no blank line below the words of an entry."""
    if not (isinstance(before, doc.Paragraph) and isinstance(block, doc.ListBlock)):
        return False
    return block.start is None and bool(block.items and block.items[0].blocks)


def _mark(start: int | None, number: int, *, second: bool) -> str:
    if start is None:
        return "*" if second else "-"
    shown = start + number if 0 <= start <= _LARGEST_NUMBER else number + 1
    return f"{shown}{')' if second else '.'}"


def _code(text: str, language: str) -> list[str]:
    ticks = fence(text)
    label = language if _LANGUAGE.fullmatch(language) else ""
    return [f"{ticks}{label}", *text.split("\n"), ticks]
