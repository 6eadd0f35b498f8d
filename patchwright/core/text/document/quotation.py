"""Words of others as quotations in which nothing acts."""

import re
from collections.abc import Iterator
from typing import Final, assert_never

from patchwright.core.text.document.reader import read_document
from patchwright.core.text.document.types import (
    Block,
    BlockQuote,
    Blocks,
    Code,
    CodeBlock,
    Details,
    Emphasis,
    Heading,
    HorizontalRule,
    Hyperlink,
    Inline,
    InlineImage,
    Inlines,
    LineBreak,
    ListBlock,
    ListItem,
    Mention,
    Paragraph,
    PlainText,
    Strike,
    Strong,
    Subscript,
    Table,
    plain_text,
)
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

    def blocks(self, blocks: Blocks) -> Blocks:
        return tuple(made for block in blocks for made in self._block(block))

    def _block(self, block: Block) -> Iterator[Block]:
        match block:
            case Paragraph(children):
                yield Paragraph(self.inlines(children))
            case Heading(children=children):
                yield Paragraph((Strong(self.inlines(children)),))
            case CodeBlock(text, language):
                label = language if language.lower() in _LANGUAGES else ""
                yield CodeBlock(make_inert(text, TextPlace.CODE), label)
            case BlockQuote(inner):
                yield BlockQuote(self.blocks(inner))
            case ListBlock(items, start):
                yield ListBlock(tuple(map(self._item, items)), start)
            case Table():
                yield ListBlock(tuple(self._rows(block)))
            case HorizontalRule():
                return
            case Details(title, inner):
                yield Paragraph((Strong(self.inlines(title)),))
                yield from self.blocks(inner)
            case _:
                assert_never(block)

    def _item(self, item: ListItem) -> ListItem:
        """Say in words what is ticked: boxes are those of our own list of steps."""
        blocks = self.blocks(item.blocks)
        if item.checked is None:
            return ListItem(blocks)
        box = PlainText("(done) " if item.checked else "(open) ")
        match blocks:
            case (Paragraph(children), *rest):
                return ListItem((Paragraph((box, *children)), *rest))
            case _:
                return ListItem((Paragraph((box,)), *blocks))

    def _rows(self, grid: Table) -> Iterator[ListItem]:
        for row in grid.rows:
            parts: list[Inline] = []
            for head, cell in zip(grid.head, row, strict=True):
                name = plain_text(head).strip()
                parts += [PlainText("; ")] if parts else []
                parts += [PlainText(f"{name}: ")] if name else []
                parts += cell
            yield ListItem((Paragraph(self.inlines(tuple(parts))),))

    def inlines(self, inlines: Inlines) -> Inlines:
        made = (one for inline in _merged(inlines) for one in self._inline(inline))
        return tuple(map(_still_inert, _merged(made)))

    def _inline(self, inline: Inline) -> Iterator[Inline]:
        match inline:
            case PlainText(text):
                yield from self._text(text)
            case Code(text):
                yield Code(make_inert(text, TextPlace.CODE))
            case Strong(children):
                yield Strong(self.inlines(children))
            case Emphasis(children):
                yield Emphasis(self.inlines(children))
            case Strike(children) | Subscript(children):
                yield from self.inlines(children)
            case Hyperlink(url, children):
                yield from self._link(url, children)
            case Mention(name=name):
                yield from _words(f"@{name}")
            case InlineImage(url, alt):
                yield from _words(f"picture {alt} ".replace("  ", " "))
                yield Code(make_inert(url, TextPlace.CODE))
            case LineBreak():
                yield inline
            case _:
                assert_never(inline)

    def _text(self, text: str) -> Iterator[Inline]:
        """Keep the one call; it is no text any more, which would be made inert."""
        done = 0
        for found in self._call.finditer(text):
            yield from _words(text[done : found.start()])
            yield Mention("", found[1])
            done = found.end()
        yield from _words(text[done:])

    def _link(self, url: str, children: Inlines) -> Iterator[Inline]:
        if self._is_kept(url):
            yield Hyperlink(url, (PlainText(_line(plain_text(children))),))
            return
        label = plain_text(children).strip()
        if label and label != url:
            yield from self.inlines(children)
            yield PlainText(" ")
        yield Code(make_inert(url, TextPlace.CODE))

    def _is_kept(self, url: str) -> bool:
        is_plain = re.fullmatch(r"[\w:/.#?=&%,+-]+", url, re.ASCII)
        return bool(is_plain) and url.startswith(self._keeps)


def _call_of(login: str) -> re.Pattern[str]:
    """Match the call of a login that ends where the login does; of none, nothing."""
    name = re.escape(login) if login else r"(?!)"
    return re.compile(rf"(?<![\w/.+@-])@({name})(?![\w/@-]|\.\w)", re.IGNORECASE)


def _words(text: str) -> Iterator[Inline]:
    """Show what services make links of as code."""
    done = 0
    for found in _ADDRESS.finditer(text):
        yield PlainText(make_inert(text[done : found.start()]))
        yield Code(make_inert(found[0], TextPlace.CODE))
        done = found.end()
    yield PlainText(make_inert(text[done:]))


def _still_inert(inline: Inline) -> Inline:
    """Look at joined texts once more; an entity can be the end of a line."""
    return PlainText(_line(inline.text)) if isinstance(inline, PlainText) else inline


def _line(text: str) -> str:
    return make_inert(text).replace("\n", " ")


def _merged(inlines: Inlines | Iterator[Inline]) -> Inlines:
    """Join neighbouring texts, as what two of them make together counts too."""
    merged: list[Inline] = []
    for inline in inlines:
        last = merged[-1] if merged else None
        if isinstance(inline, PlainText) and isinstance(last, PlainText):
            merged[-1] = PlainText(last.text + inline.text)
        elif inline != PlainText(""):
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


def _read(text: str) -> Blocks:
    shown = visible_lines(text)
    if sum(map(shown.count, "[<`*_")) > _MOST_BRACKETS:
        return (CodeBlock(shown.strip("\n")),)
    return read_document(shown)


def _read_line(text: str) -> Inlines:
    """Read a line as if it stood in a sentence, so that nothing begins a block."""
    match _read(f"{_BEFORE}{' '.join(text.split())}"):
        case (Paragraph((PlainText(first), *others)),):
            return (PlainText(first.removeprefix(_BEFORE)), *others)
        case _:
            return (Code(text),)
