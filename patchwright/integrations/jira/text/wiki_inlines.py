"""Read the phrases of wiki markup.

https://jira.atlassian.com/secure/WikiRendererHelpAction.jspa?section=texteffects
"""

import html
import re
from collections.abc import Callable, Mapping
from typing import Final

from patchwright.core.text.document import types as doc
from patchwright.integrations.jira.text.layout import safe_address

# What a backslash takes the meaning from, says what Jira's renderer was ported to:
# https://app.unpkg.com/@atlaskit/editor-wikimarkup-transformer@11.20.13/files/dist/es2019/parser/utils/escape.js
_ESCAPE: Final = re.compile(r"(?<!\\)\\([-#*_+?^~|%{}\[\]()!@])")
_ENTITY: Final = r"&(?:\#\d{1,6}|\#x[0-9A-Fa-f]{1,5}|[A-Za-z]\w{1,30});"
_TOKEN: Final = re.compile(
    rf"""
      \\\\(?P<forced>)(?=\s|\Z)\s?
    | (?<!\\)\\(?P<escaped>[-#*_+?^~|%{{}}\[\]()!@])
    | \{{\{{(?P<mono>(?:(?!\{{\{{|\}}\}})[^\n]){{1,1000}})\}}\}}
    | \[(?P<link>(?:\\.|[^\[\]\\\n]){{1,2000}})\]
    | !(?P<picture>https?://[^\s!|]{{1,500}}|[^\s!|][^!|\n]{{0,200}}\.\w{{2,5}})
      (?:\|[^!\n]{{0,200}})?!(?!\w)
    | (?P<address>https?://(?:[^\s|\]{{}}<>"\\&]|&(?!\#?\w{{1,31}};))+)
    | \{{(?P<dropped>color|anchor)(?::[^}}\n]{{0,200}})?\}}
    | \{{(?P<braced>[*_+^~-]|\?\?)\}}
    | (?P<phrase>[*_+^~-]|\?\?)
    | (?P<entity>{_ENTITY})
    """,
    re.VERBOSE,
)
_DEEPEST: Final = 6
_MEANINGS: Final[Mapping[str, Callable[[doc.Inlines], doc.Inline]]] = {
    "*": doc.Strong,
    "_": doc.Emphasis,
    "??": doc.Emphasis,
    "-": doc.Strike,
}
_CLOSERS: Final[Mapping[str, re.Pattern[str]]] = {
    sign: re.compile(
        rf"(?<![\s\\{re.escape(sign[0])}]){re.escape(sign)}(?![\w{re.escape(sign[0])}])"
    )
    for sign in ("*", "_", "+", "^", "~", "-", "??")
}
_CLINGING: Final = "?!.,:;*_~'()"
_ACCOUNT: Final = "accountid:"


def read_inlines(text: str, depth: int = 0) -> doc.Inlines:
    """Read one line."""
    return _WikiInlineReader(text, depth).read()


class _WikiInlineReader:
    def __init__(self, text: str, depth: int) -> None:
        self._text = text
        self._depth = depth
        self._inlines: list[doc.Inline] = []
        # Signs that nothing closes from here on; looking again would cost too much.
        self._open: set[str] = set()

    def read(self) -> doc.Inlines:
        done = 0
        while token := _TOKEN.search(self._text, done):
            self._words(self._text[done : token.start()])
            done = self._token(token)
        self._words(self._text[done:])
        return doc.join_texts(self._inlines)

    def _token(self, token: re.Match[str]) -> int:
        """Add what a token means, and return where to go on."""
        match token.lastgroup:
            case "forced":
                self._inlines.append(doc.LineBreak())
            case "mono":
                self._inlines.append(doc.Code(_decoded(token["mono"])))
            case "link":
                return self._link(token)
            case "picture":
                self._inlines.append(_picture(_decoded(token["picture"])))
            case "braced" | "phrase":
                return self._phrase(token)
            case "entity":
                self._words(html.unescape(token[0]))
            case "address":
                return self._address(token)
            case "escaped":
                self._words(token["escaped"])
            case _:
                pass
        return token.end()

    def _words(self, words: str) -> None:
        if words:
            self._inlines.append(doc.PlainText(words))

    def _address(self, token: re.Match[str]) -> int:
        address = token["address"].rstrip(_CLINGING)
        self._inlines.append(doc.Hyperlink(address, (doc.PlainText(address),)))
        return token.start() + len(address)

    def _link(self, token: re.Match[str]) -> int:
        link = _link(token["link"], self._depth)
        if link is None:
            # Not a link: what is in the brackets may be something else.
            self._words("[")
            return token.start() + 1
        for inline in link:
            self._inlines.append(inline)
        return token.end()

    def _phrase(self, token: re.Match[str]) -> int:
        sign = token["braced"] or token["phrase"]
        begin, end, after = token.end(), -1, 0
        if self._opens(token, sign):
            closing = f"{{{sign}}}" if token["braced"] else sign
            end = self._find_end(sign, begin, braced=bool(token["braced"]))
            after = end + len(closing)
        if end < 0:
            self._words(token[0])
            return begin
        children = read_inlines(self._text[begin:end], self._depth + 1)
        make = _MEANINGS.get(sign)
        self._inlines += [make(children)] if make else children
        return after

    def _opens(self, token: re.Match[str], sign: str) -> bool:
        if self._depth >= _DEEPEST or token[0] in self._open:
            return False
        start, end = token.span()
        before, after = self._text[max(0, start - 1) : start], self._text[end : end + 1]
        if token["braced"]:
            return bool(after.strip())
        outside = before.isalnum() or before == sign[0]
        return bool(after.strip()) and after != sign[0] and not outside

    def _find_end(self, sign: str, begin: int, *, braced: bool) -> int:
        if braced:
            end = self._text.find(f"{{{sign}}}", begin + 1)
        else:
            found = _CLOSERS[sign].search(self._text, begin + 1)
            end = found.start() if found else -1
        if end < 0:
            self._open.add(f"{{{sign}}}" if braced else sign)
        return end


def _decoded(text: str) -> str:
    return re.sub(
        rf"{_ESCAPE.pattern}|{_ENTITY}",
        lambda found: found[1] or html.unescape(found[0]),
        text,
    )


def _picture(name: str) -> doc.Inline:
    """Return what stands for a picture; most are names of attachments."""
    return (
        doc.Hyperlink(name, (doc.PlainText(name),))
        if safe_address(name)
        else doc.PlainText(f"[{name}]")
    )


def _link(source: str, depth: int) -> doc.Inlines | None:
    """Read `text|address`, `address` or `~name`; anything else is no link."""
    parts = source.split("|")
    target = _decoded(parts[min(1, len(parts) - 1)].strip())
    if target.startswith("~") and target[1:].strip():
        person_id = target[1:].strip().removeprefix(_ACCOUNT)
        label = _decoded(parts[0].strip()) if len(parts) > 1 else person_id
        return (doc.Mention(person_id, label.removeprefix("@")),)
    label = parts[0].strip()
    if safe_address(target):
        words = (
            read_inlines(label, depth + 1)
            if len(parts) > 1
            else (doc.PlainText(target),)
        )
        return (doc.Hyperlink(target, words),)
    is_here = target.startswith(("#", "^")) and len(parts) > 1
    return read_inlines(label, depth + 1) if is_here and depth < _DEEPEST else None
