"""Words of others as quotations in which nothing acts.

Each sign of their words is a sign: what they hold is escaped, whether it could be
markup where it stands or not. Each line is whole by itself, so that a mark can be put
in front of it.
"""

import re
from collections.abc import Iterator
from typing import Final, assert_never

from patchwright.core.text.document import types as doc
from patchwright.core.text.document.reader import read_document
from patchwright.core.text.escape import (
    TextPlace,
    inline_code,
    make_inert,
    visible_lines,
)

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
