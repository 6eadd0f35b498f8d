"""Read the tokens of a paragraph."""

import re
from collections.abc import Callable
from typing import Final
from urllib.parse import unquote

from markdown_it.token import Token

from patchwright.core.text.document.bare_links import link_addresses
from patchwright.core.text.document.html import add_tag
from patchwright.core.text.document.inline_stack import InlineStack
from patchwright.core.text.document.plain import plain_text
from patchwright.core.text.document.types import (
    Mention,
    Code,
    Emphasis,
    Inline,
    Inlines,
    LineBreak,
    Hyperlink,
    InlineImage,
    Strike,
    Strong,
    PlainText,
)
from patchwright.core.text.marks import MENTION_LINK

# Where a link was read from: only who writes it out in full calls somebody, since
# `without_calls` finds nothing that is written as an entity or elsewhere.
LINK_SOURCE: Final = "source"
_CALL: Final = re.compile(rf"\]\({re.escape(MENTION_LINK)}([^\s()<>\\&]+)\)\Z")
_PAIRS: Final[dict[str, Callable[[Inlines], Inline]]] = {
    "strong_open": Strong,
    "em_open": Emphasis,
    "s_open": Strike,
}


def read_inlines(block: Token) -> Inlines:
    return _read(block.children or [], in_link=False)


def _read(tokens: list[Token], *, in_link: bool) -> Inlines:
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
            stack.add(Code(token.content))
        case "softbreak" | "hardbreak":
            # Comments of a forge show the first as the second, and we write for them.
            stack.add(LineBreak())
        case "html_inline":
            add_tag(stack, token.content)
        case "image":
            alt = plain_text(_read(token.children or [], in_link=True))
            stack.add(InlineImage(str(token.attrGet("src") or ""), alt))
        case _:
            words = (PlainText(token.content),)
            for inline in words if in_link else link_addresses(words):
                stack.add(inline)


def _pair(opens: str) -> Callable[[Inlines], Inlines]:
    make = _PAIRS[opens]
    return lambda children: (make(children),)


def _link(token: Token) -> Callable[[Inlines], Inlines]:
    url = str(token.attrGet("href") or "")
    if not url.startswith(MENTION_LINK):
        return lambda children: (Hyperlink(url, children or (PlainText(url),)),)
    found = _CALL.search(token.meta.get(LINK_SOURCE, ""))
    if found is None:
        return lambda children: children
    person_id = unquote(found[1])
    return lambda children: (Mention(person_id, plain_text(children).removeprefix("@")),)
