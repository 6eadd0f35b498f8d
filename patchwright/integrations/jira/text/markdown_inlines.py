"""Write the inlines of a document as Markdown."""

import re
from collections.abc import Callable
from typing import Final, assert_never

from patchwright.core.text.document.plain import join_texts, plain_text
from patchwright.core.text.document.types import (
    Mention,
    Code,
    Emphasis,
    Inline,
    Inlines,
    LineBreak,
    Hyperlink,
    InlineImage,
    Subscript,
    Strike,
    Strong,
    PlainText,
)
from patchwright.integrations.jira.text.addresses import safe_address
from patchwright.integrations.jira.text.markdown_escape import (
    code_span,
    escape_label,
    escape_words,
)

MentionName = Callable[[Mention], str]

_STYLED: Final = (Strong, Emphasis, Strike, Subscript)
_MARKS: Final = {Strong: "**", Emphasis: "*", Strike: "~~", Subscript: ""}
# What a mention must not touch to be read as one.
_TOUCHES_BEFORE: Final = re.compile(r"[\w@/+]\Z")
_TOUCHES_AFTER: Final = re.compile(r"[\w@/.-]")


def name_with_at(call: Mention) -> str:
    return f"@{call.name}"


def write_inlines(inlines: Inlines, named: MentionName = name_with_at) -> str:
    """Return Markdown without a mark that calls anybody on a service.

    `named` says how a mention is written, as words.
    """
    return _InlineWriter(named).write(_merged(inlines))


class _InlineWriter:
    def __init__(self, named: MentionName) -> None:
        self._named = named

    def write(self, inlines: Inlines) -> str:
        text = ""
        called = False
        for number, inline in enumerate(inlines):
            following = inlines[number + 1 : number + 2]
            starts = not text or text.endswith("\n")
            part = self._inline(inline, following, starts=starts)
            if isinstance(inline, _STYLED):
                after = plain_text(following)
                part = _wrapped(_MARKS[type(inline)], part, text[-1:], after[:1])
            if isinstance(inline, Mention) and _TOUCHES_BEFORE.match(text[-1:]):
                text += " "
            if called and _TOUCHES_AFTER.match(part):
                text += " "
            text += part
            called = isinstance(inline, Mention)
        return text

    def _inline(self, inline: Inline, following: Inlines, *, starts: bool) -> str:
        match inline:
            case PlainText(text):
                return _words(text, following, starts=starts)
            case Code(text):
                return code_span(text)
            case Strong() | Emphasis() | Strike() | Subscript():
                return self.write(inline.children)
            case Hyperlink(url, children):
                return self._link(url, children)
            case Mention():
                return escape_words(self._named(inline), starts_line=False)
            case InlineImage(url, alt):
                return _picture(url, alt)
            case LineBreak():
                return "\n"
            case _:
                assert_never(inline)

    def _link(self, url: str, children: Inlines) -> str:
        address = safe_address(url)
        if not address:
            return self.write(children)
        label = plain_text(children).strip()
        if label in {"", url, address}:
            return f"<{address}>"
        match children:
            case (Code(text),):
                return f"[{code_span(text)}]({address})"
            case _:
                return f"[{escape_label(' '.join(label.split()))}]({address})"


def _words(text: str, following: Inlines, *, starts: bool) -> str:
    words = text.lstrip() if starts else text
    match following:
        case (Hyperlink(),):
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


def _merged(inlines: Inlines) -> Inlines:
    """Join neighbouring texts: what two of them make together is escaped too."""
    return join_texts(inlines)
