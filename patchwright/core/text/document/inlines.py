"""The inlines of a paragraph, read from Markdown tokens and the HTML in them."""

import html
import re
from collections.abc import Callable, Iterator
from typing import Final
from urllib.parse import unquote

from markdown_it.token import Token

from patchwright.core.text.document import types as doc
from patchwright.core.text.escape import MENTION_LINK

# The later reader of the document has its own stack.
_DEEPEST = 40

Make = Callable[[doc.Inlines], doc.Inlines]


class _OpenInline:
    """What was opened; `literal` stands for a tag that nothing closes."""

    def __init__(self, name: str, make: Make, literal: str) -> None:
        self.name = name
        self.make = make
        self.literal = literal
        self.children: list[doc.Inline] = []


class InlineStack:
    """Markdown's own parts always match; tags do only where people wrote them well."""

    def __init__(self) -> None:
        self._open = [_OpenInline("", tuple, "")]

    def add(self, inline: doc.Inline) -> None:
        self._open[-1].children.append(inline)

    def open(self, name: str, make: Make) -> None:
        self._open.append(_OpenInline(name, make, ""))

    def close(self) -> None:
        """Close the last part of Markdown, and tags that were left open in it."""
        self._dissolve_tags()
        self._finish(self._open.pop())

    def open_tag(self, name: str, make: Make, literal: str) -> None:
        if len(self._open) >= _DEEPEST:
            self.add(doc.PlainText(literal))
        else:
            self._open.append(_OpenInline(name, make, literal))

    def close_tag(self, name: str, literal: str) -> None:
        if not self._has_open_tag(name):
            self.add(doc.PlainText(literal))
            return
        while self._open[-1].name != name:
            self._dissolve()
        self._finish(self._open.pop())

    def result(self) -> doc.Inlines:
        self._dissolve_tags()
        return doc.join_texts(self._open[-1].children)

    def _has_open_tag(self, name: str) -> bool:
        for part in reversed(self._open):
            if not part.literal:
                return False
            if part.name == name:
                return True
        return False

    def _dissolve_tags(self) -> None:
        while self._open[-1].literal:
            self._dissolve()

    def _dissolve(self) -> None:
        tag = self._open.pop()
        for inline in (doc.PlainText(tag.literal), *tag.children):
            self.add(inline)

    def _finish(self, part: _OpenInline) -> None:
        for inline in part.make(doc.join_texts(part.children)):
            self.add(inline)


_ADDRESS: Final = re.compile(r"(?<![a-z])https?://[^\s<>\"`]+", re.IGNORECASE)
_CLINGING: Final = "?!.,:*_~'\";"


def link_addresses(inlines: doc.Inlines) -> doc.Inlines:
    return tuple(part for inline in inlines for part in _linked(inline))


def _linked(inline: doc.Inline) -> Iterator[doc.Inline]:
    if not isinstance(inline, doc.PlainText):
        yield inline
        return
    text, done = inline.text, 0
    for found in _ADDRESS.finditer(text):
        address = _trimmed(found[0])
        if done < found.start():
            yield doc.PlainText(text[done : found.start()])
        yield doc.Hyperlink(address, (doc.PlainText(address),))
        done = found.start() + len(address)
    if done < len(text):
        yield doc.PlainText(text[done:])


def _trimmed(address: str) -> str:
    """Leave off what belongs to the sentence around an address."""
    unopened = address.count(")") - address.count("(")
    end = len(address)
    while address[end - 1] in _CLINGING or (address[end - 1] == ")" and unopened > 0):
        unopened -= address[end - 1] == ")"
        end -= 1
    return address[:end]


_TAG: Final = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9-]*)([^<>]*)>")
_COMMENT_START, _COMMENT_END = "<!--", "-->"


def _code(children: doc.Inlines) -> doc.Inline:
    return doc.Code(doc.plain_text(children))


_MEANINGS: Final[dict[str, Callable[[doc.Inlines], doc.Inline]]] = {
    "b": doc.Strong,
    "strong": doc.Strong,
    "i": doc.Emphasis,
    "em": doc.Emphasis,
    "s": doc.Strike,
    "del": doc.Strike,
    "sub": doc.Subscript,
    "small": doc.Subscript,
    "code": _code,
    "kbd": _code,
    "tt": _code,
}


def without_comments(text: str) -> str:
    """Take HTML comments out; one that is never closed is text."""
    parts: list[str] = []
    done = 0
    while (start := text.find(_COMMENT_START, done)) >= 0:
        end = text.find(_COMMENT_END, start + len(_COMMENT_START))
        if end < 0:
            break
        parts.append(text[done:start])
        done = end + len(_COMMENT_END)
    return "".join([*parts, text[done:]])


def add_tag(stack: InlineStack, raw: str) -> None:
    """Add what a tag means; a tag of another meaning is the text it is."""
    if raw.startswith(_COMMENT_START):
        return
    tag = _TAG.fullmatch(raw)
    name = tag[2].lower() if tag else ""
    make = _MEANINGS.get(name)
    if name == "br":
        stack.add(doc.LineBreak())
    elif tag is None or make is None or tag[3].endswith("/"):
        stack.add(doc.PlainText(raw))
    elif tag[1]:
        stack.close_tag(name, raw)
    else:
        stack.open_tag(name, _wrapped(make), raw)


def read_html_inlines(text: str) -> doc.Inlines:
    """Read HTML in which lines are kept as they were written."""
    stack = InlineStack()
    for piece, is_tag in _pieces(without_comments(text).strip()):
        if is_tag:
            add_tag(stack, piece)
        else:
            _add_lines(stack, piece)
    return stack.result()


def _wrapped(
    make: Callable[[doc.Inlines], doc.Inline],
) -> Callable[[doc.Inlines], doc.Inlines]:
    return lambda children: (make(children),) if children else ()


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    done = 0
    for tag in _TAG.finditer(text):
        yield text[done : tag.start()], False
        yield tag[0], True
        done = tag.end()
    yield text[done:], False


def _add_lines(stack: InlineStack, text: str) -> None:
    first, *others = text.split("\n")
    stack.add(doc.PlainText(html.unescape(first)))
    for line in others:
        stack.add(doc.LineBreak())
        stack.add(doc.PlainText(html.unescape(line.lstrip())))


# Where a link was read from: only who writes it out in full calls somebody, since
# `without_mentions` finds nothing that is written as an entity or elsewhere.
LINK_SOURCE: Final = "source"
_CALL: Final = re.compile(rf"\]\({re.escape(MENTION_LINK)}([^\s()<>\\&]+)\)\Z")
_PAIRS: Final[dict[str, Callable[[doc.Inlines], doc.Inline]]] = {
    "strong_open": doc.Strong,
    "em_open": doc.Emphasis,
    "s_open": doc.Strike,
}


def read_inlines(block: Token) -> doc.Inlines:
    return _read(block.children or [], in_link=False)


def _read(tokens: list[Token], *, in_link: bool) -> doc.Inlines:
    stack = InlineStack()
    links = int(in_link)
    for token in tokens:
        if token.type == "link_open":
            stack.open(token.type, _link(token))
        elif token.nesting > 0:
            stack.open(token.type, _pair(token.type))
        elif token.nesting < 0:
            stack.close()
        else:
            _add(stack, token, in_link=links > 0)
        links += token.nesting if token.type in {"link_open", "link_close"} else 0
    return stack.result()


def _add(stack: InlineStack, token: Token, *, in_link: bool) -> None:
    match token.type:
        case "code_inline":
            stack.add(doc.Code(token.content))
        case "softbreak" | "hardbreak":
            # Comments of a forge show the first as the second, and we write for them.
            stack.add(doc.LineBreak())
        case "html_inline":
            add_tag(stack, token.content)
        case "image":
            alt = doc.plain_text(_read(token.children or [], in_link=True))
            stack.add(doc.InlineImage(str(token.attrGet("src") or ""), alt))
        case _:
            words = (doc.PlainText(token.content),)
            for inline in words if in_link else link_addresses(words):
                stack.add(inline)


def _pair(opens: str) -> Callable[[doc.Inlines], doc.Inlines]:
    make = _PAIRS[opens]
    return lambda children: (make(children),)


def _link(token: Token) -> Callable[[doc.Inlines], doc.Inlines]:
    url = str(token.attrGet("href") or "")
    if not url.startswith(MENTION_LINK):
        return lambda children: (doc.Hyperlink(url, children or (doc.PlainText(url),)),)
    found = _CALL.search(token.meta.get(LINK_SOURCE, ""))
    if found is None:
        return lambda children: children
    person_id = unquote(found[1])
    return lambda children: (
        doc.Mention(person_id, doc.plain_text(children).removeprefix("@")),
    )
