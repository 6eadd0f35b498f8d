"""Words of others as quotations in which nothing acts."""

import re
from collections.abc import Iterator
from typing import Final, assert_never

from patchwright.core.text.document import types as doc
from patchwright.core.text.document.reader import read_document
from patchwright.core.text.document.writer import (
    write_document_line,
    write_document_lines,
)
from patchwright.core.text.escape import TextPlace, make_inert, visible_lines

# What a forge draws or offers to apply, where it stands for a language.
_LANGUAGES: Final = frozenset(
    {"bash", "c", "c++", "console", "cpp", "cs", "csharp", "css", "diff"}
    | {"dockerfile", "elixir", "go", "graphql", "groovy", "haskell", "hcl"}
    | {"html", "http", "ini", "java", "javascript", "js", "json", "jsx"}
    | {"kotlin", "less", "lua", "make", "makefile", "nix", "patch", "perl"}
    | {"php", "powershell", "proto", "python", "py", "r", "rb", "ruby", "rust"}
    | {"rs", "scala", "scss", "sh", "shell", "sql", "svg", "swift", "terraform"}
    | {"text", "toml", "ts", "tsx", "txt", "typescript", "vue", "xml", "yaml"}
    | {"yml", "zig", "zsh"}
)
# An address of a page or a person, as services make links of them.
_ADDRESS: Final = re.compile(
    r"(?:https?|ftp)://[^\s<>`]+|(?<![a-z0-9])www\.[^\s<>`]+|(?:mailto|xmpp):[^\s<>`]+"
    r"|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"
    r"|(?<![\w./-])[\w.-]{1,100}/[\w.-]{1,100}#\d+",
    re.IGNORECASE,
)


class InertWriter:
    """Makes documents inert; links to what `keeps` begins stay links.

    The person of the login `calls` is called where a text says so, and nobody else.
    """

    def __init__(self, keeps: tuple[str, ...] = (), calls: str = "") -> None:
        self._keeps = keeps
        self._call = _call_of(calls)

    def blocks(self, blocks: doc.Blocks) -> doc.Blocks:
        return tuple(made for block in blocks for made in self._block(block))

    def _block(self, block: doc.Block) -> Iterator[doc.Block]:
        match block:
            case doc.Paragraph(children):
                yield doc.Paragraph(self.inlines(children))
            case doc.Heading(children=children):
                yield doc.Paragraph((doc.Strong(self.inlines(children)),))
            case doc.CodeBlock(text, language):
                label = language if language.lower() in _LANGUAGES else ""
                yield doc.CodeBlock(make_inert(text, TextPlace.CODE), label)
            case doc.BlockQuote(inner):
                yield doc.BlockQuote(self.blocks(inner))
            case doc.ListBlock(items, start):
                yield doc.ListBlock(tuple(map(self._item, items)), start)
            case doc.Table():
                yield doc.ListBlock(tuple(self._rows(block)))
            case doc.HorizontalRule():
                return
            case doc.Details(title, inner):
                yield doc.Paragraph((doc.Strong(self.inlines(title)),))
                yield from self.blocks(inner)
            case _:
                assert_never(block)

    def _item(self, item: doc.ListItem) -> doc.ListItem:
        """Say in words what is ticked: boxes are those of our own list of steps."""
        blocks = self.blocks(item.blocks)
        if item.checked is None:
            return doc.ListItem(blocks)
        box = doc.PlainText("(done) " if item.checked else "(open) ")
        match blocks:
            case (doc.Paragraph(children), *rest):
                return doc.ListItem((doc.Paragraph((box, *children)), *rest))
            case _:
                return doc.ListItem((doc.Paragraph((box,)), *blocks))

    def _rows(self, grid: doc.Table) -> Iterator[doc.ListItem]:
        for row in grid.rows:
            parts: list[doc.Inline] = []
            for head, cell in zip(grid.head, row, strict=True):
                name = doc.plain_text(head).strip()
                parts += [doc.PlainText("; ")] if parts else []
                parts += [doc.PlainText(f"{name}: ")] if name else []
                parts += cell
            yield doc.ListItem((doc.Paragraph(self.inlines(tuple(parts))),))

    def inlines(self, inlines: doc.Inlines) -> doc.Inlines:
        made = (one for inline in _merged(inlines) for one in self._inline(inline))
        return tuple(map(_still_inert, _merged(made)))

    def _inline(self, inline: doc.Inline) -> Iterator[doc.Inline]:
        match inline:
            case doc.PlainText(text):
                yield from self._text(text)
            case doc.Code(text):
                yield doc.Code(make_inert(text, TextPlace.CODE))
            case doc.Strong(children):
                yield doc.Strong(self.inlines(children))
            case doc.Emphasis(children):
                yield doc.Emphasis(self.inlines(children))
            case doc.Strike(children) | doc.Subscript(children):
                yield from self.inlines(children)
            case doc.Hyperlink(url, children):
                yield from self._link(url, children)
            case doc.Mention(name=name):
                yield from _words(f"@{name}")
            case doc.InlineImage(url, alt):
                yield from _words(f"picture {alt} ".replace("  ", " "))
                yield doc.Code(make_inert(url, TextPlace.CODE))
            case doc.LineBreak():
                yield inline
            case _:
                assert_never(inline)

    def _text(self, text: str) -> Iterator[doc.Inline]:
        """Keep the one call; it is no text any more, which would be made inert."""
        done = 0
        for found in self._call.finditer(text):
            yield from _words(text[done : found.start()])
            yield doc.Mention("", found[1])
            done = found.end()
        yield from _words(text[done:])

    def _link(self, url: str, children: doc.Inlines) -> Iterator[doc.Inline]:
        if self._is_kept(url):
            yield doc.Hyperlink(url, (doc.PlainText(_line(doc.plain_text(children))),))
            return
        label = doc.plain_text(children).strip()
        if label and label != url:
            yield from self.inlines(children)
            yield doc.PlainText(" ")
        yield doc.Code(make_inert(url, TextPlace.CODE))

    def _is_kept(self, url: str) -> bool:
        is_plain = re.fullmatch(r"[\w:/.#?=&%,+-]+", url, re.ASCII)
        return bool(is_plain) and url.startswith(self._keeps)


def _call_of(login: str) -> re.Pattern[str]:
    """Match the call of a login that ends where the login does; of none, nothing."""
    name = re.escape(login) if login else r"(?!)"
    return re.compile(rf"(?<![\w/.+@-])@({name})(?![\w/@-]|\.\w)", re.IGNORECASE)


def _words(text: str) -> Iterator[doc.Inline]:
    """Show what services make links of as code."""
    done = 0
    for found in _ADDRESS.finditer(text):
        yield doc.PlainText(make_inert(text[done : found.start()]))
        yield doc.Code(make_inert(found[0], TextPlace.CODE))
        done = found.end()
    yield doc.PlainText(make_inert(text[done:]))


def _still_inert(inline: doc.Inline) -> doc.Inline:
    """Look at joined texts once more; an entity can be the end of a line."""
    return (
        doc.PlainText(_line(inline.text))
        if isinstance(inline, doc.PlainText)
        else inline
    )


def _line(text: str) -> str:
    return make_inert(text).replace("\n", " ")


def _merged(inlines: doc.Inlines | Iterator[doc.Inline]) -> doc.Inlines:
    """Join neighbouring texts, as what two of them make together counts too."""
    merged: list[doc.Inline] = []
    for inline in inlines:
        last = merged[-1] if merged else None
        if isinstance(inline, doc.PlainText) and isinstance(last, doc.PlainText):
            merged[-1] = doc.PlainText(last.text + inline.text)
        elif inline != doc.PlainText(""):
            merged.append(inline)
    return tuple(merged)


# What takes longer to read than anybody's words is shown as it was written.
_MOST_BRACKETS: Final = 1_500
_BEFORE: Final = "x "


def quoted(text: str, keeps: tuple[str, ...] = ()) -> str:
    """Return a quotation in Markdown that nothing in the text can end."""
    lines = inert_prose(text, keeps).split("\n")
    return "\n".join(f"> {line}".rstrip() for line in lines) if any(lines) else ""


def quoted_plain(text: str) -> str:
    """Return a quotation for where there is no Markdown, such as a commit's message."""
    lines = make_inert(text, TextPlace.PLAIN).strip().split("\n")
    return "\n".join(f"> {line}".rstrip() for line in lines) if any(lines) else ""


def inert_prose(text: str, keeps: tuple[str, ...] = (), calls: str = "") -> str:
    """Return a text as Markdown of words, lists and code, and of nothing else.

    Links to what `keeps` begins stay links, and the login `calls` is still called.
    """
    lines = write_document_lines(InertWriter(keeps, calls).blocks(_read(text)))
    # What two pieces make together is seen only where both are written.
    return make_inert("\n".join(lines), TextPlace.CODE)


def inert_phrase(text: str, keeps: tuple[str, ...] = ()) -> str:
    """Return a text as one line of Markdown, to stand in a list or a sentence."""
    line = write_document_line(InertWriter(keeps).inlines(_read_line(text)))
    return make_inert(line, TextPlace.CODE)


def _read(text: str) -> doc.Blocks:
    shown = visible_lines(text)
    if sum(map(shown.count, "[<`*_")) > _MOST_BRACKETS:
        return (doc.CodeBlock(shown.strip("\n")),)
    return read_document(shown)


def _read_line(text: str) -> doc.Inlines:
    """Read a line as if it were inside a sentence, so that it starts no block."""
    match _read(f"{_BEFORE}{' '.join(text.split())}"):
        case (doc.Paragraph((doc.PlainText(first), *others)),):
            return (doc.PlainText(first.removeprefix(_BEFORE)), *others)
        case _:
            return (doc.Code(text),)
