"""Find the links, images and comments of a paragraph in one pass.

The rules of markdown-it look for the end of a label again at each bracket, which takes
the square of the text's length. Here a stack of open brackets is kept instead, as the
specification describes it: each bracket is opened and closed once.
https://spec.commonmark.org/0.31.2/#an-algorithm-for-parsing-nested-emphasis-and-links
"""

import re
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakKeyDictionary

from markdown_it import MarkdownIt
from markdown_it.common.utils import normalizeReference
from markdown_it.rules_inline import StateInline, autolink, backtick, escape
from markdown_it.rules_inline import html_inline as any_html

# The text of an image is read again for each image around it; nobody nests so many.
_MAX_NESTED_IMAGES: Final = 8
# https://spec.commonmark.org/0.31.2/#link-label
_MAX_LABEL_CHARS: Final = 999
_TOO_DEEP: Final = "links_too_deep"

_SIGN: Final = re.compile(r"[\\`<\]]|!?\[")
_LABEL: Final = re.compile(
    rf"\[((?:\\.|[^\\\[\]]){{0,{_MAX_LABEL_CHARS}}})\]", re.DOTALL
)
_BLANKS: Final = re.compile(r"[ \t\n]*")
# What these find is no bracket, whatever signs are in it.
# The key under which a state's cache has the first comment that nothing closes.
_UNCLOSED: Final = -1


@dataclass(frozen=True, slots=True)
class _Address:
    """The target of a label, and the place where the text continues."""

    end: int
    href: str
    title: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class _Target:
    """A link or an image: its label is from `start` to `label_end`."""

    start: int
    label_end: int
    address: _Address


@dataclass(slots=True)
class _OpenBracket:
    """A bracket that waits for its end; `nested` counts the images in one another."""

    at: int
    is_image: bool
    nested: int = 0


_Targets = dict[int, _Target]
_known: WeakKeyDictionary[StateInline, _Targets] = WeakKeyDictionary()


def add_inline_rules(parser: MarkdownIt) -> None:
    """Have the parser read all that in time that grows with the text."""
    parser.inline.ruler.at("link", link)
    parser.inline.ruler.at("image", image)
    parser.inline.ruler.at("html_inline", html_inline)


def is_too_deep(env: dict[str, Any]) -> bool:
    """Tell whether images were nested too deeply to be read."""
    return bool(env.get(_TOO_DEEP))


def link(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - parser's call
    target = _target(state, "[")
    if target is None:
        return False
    if not silent:
        _push_link(state, target)
    state.pos = target.address.end
    return True


def image(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - parser's call
    target = _target(state, "![")
    if target is None:
        return False
    if not silent:
        _push_image(state, target)
    state.pos = target.address.end
    return True


def html_inline(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - parser's
    is_comment = state.src.startswith("<!--", state.pos)
    if is_comment and _UNCLOSED in state.cache:
        # Each would be searched for its end through all of the text.
        return False
    found = any_html(state, silent)
    if is_comment and not found:
        state.cache[_UNCLOSED] = state.pos
    return found


# What these find is no bracket, whatever signs are in it.
_ATOMS: Final = {"\\": (escape,), "`": (backtick,), "<": (autolink, html_inline)}


def _target(state: StateInline, opening: str) -> _Target | None:
    if not state.src.startswith(opening, state.pos):
        return None
    targets = _known.get(state)
    if targets is None:
        targets = _known[state] = _Pass(state).run() if "]" in state.src else {}
    return targets.get(state.pos)


def _push_link(state: StateInline, target: _Target) -> None:
    end = state.posMax
    state.pos, state.posMax = target.start, target.label_end
    token = state.push("link_open", "a", 1)
    token.attrs = {"href": target.address.href}
    _describe(token.attrs, token.meta, target.address)
    state.linkLevel += 1
    state.md.inline.tokenize(state)
    state.linkLevel -= 1
    state.push("link_close", "a", -1)
    state.posMax = end


def _push_image(state: StateInline, target: _Target) -> None:
    content = state.src[target.start : target.label_end]
    token = state.push("image", "img", 0)
    token.attrs = {"src": target.address.href, "alt": ""}
    token.children = state.md.inline.parse(content, state.md, state.env, []) or None
    token.content = content
    _describe(token.attrs, token.meta, target.address)


def _describe(
    attributes: dict[str, str | int | float], meta: dict[str, Any], address: _Address
) -> None:
    if address.title:
        attributes["title"] = address.title
    if address.label:
        meta["label"] = address.label


class _Pass:
    """Goes once over the text of a paragraph."""

    def __init__(self, state: StateInline) -> None:
        self._state = state
        self._open: list[_OpenBracket] = []
        # Links hold no links: none of this many brackets, which are around one, makes
        # another.
        self._spent = 0
        self._targets: _Targets = {}

    def run(self) -> _Targets:
        state, text = self._state, self._state.src
        kept = state.pos, state.posMax
        state.posMax = len(text)
        at = state.pos
        while sign := _SIGN.search(text, at):
            at = self._read(sign)
        state.pos, state.posMax = kept
        return self._targets

    def _read(self, sign: re.Match[str]) -> int:
        """Take in one sign, and return where to go on."""
        if sign[0] == "]":
            return self._close(sign.start())
        if sign[0].endswith("["):
            self._open.append(_OpenBracket(sign.start(), is_image=sign[0] != "["))
            return sign.end()
        return self._skip_atom(sign)

    def _skip_atom(self, sign: re.Match[str]) -> int:
        state = self._state
        state.pos = sign.start()
        for rule in _ATOMS[sign[0]]:
            if rule(state, True):
                return state.pos
        return sign.end()

    def _close(self, at: int) -> int:
        """Take the bracket that closes here; with an address it makes a target."""
        if not self._open:
            return at + 1
        opened = self._open.pop()
        nested = opened.nested + opened.is_image
        may_open = opened.is_image or len(self._open) >= self._spent
        self._spent = min(self._spent, len(self._open))
        address = self._address(opened, at) if may_open else None
        if address and nested > _MAX_NESTED_IMAGES:
            self._state.env[_TOO_DEEP] = True
            address = None
        if self._open:
            inside = nested if address else opened.nested
            self._open[-1].nested = max(self._open[-1].nested, inside)
        if address is None:
            return at + 1
        start = opened.at + (2 if opened.is_image else 1)
        self._targets[opened.at] = _Target(start, at, address)
        if not opened.is_image:
            self._spent = len(self._open)
        return address.end

    def _address(self, opened: _OpenBracket, at: int) -> _Address | None:
        start = opened.at + (2 if opened.is_image else 1)
        inline = _inline_address(self._state, at + 1)
        return inline or _reference(self._state, start, at)


def _inline_address(state: StateInline, at: int) -> _Address | None:
    """Read `(address "title")`."""
    text, size = state.src, len(state.src)
    if not text.startswith("(", at):
        return None
    at = _skip_blanks(text, at + 1)
    written, title = "", ""
    found = state.md.helpers.parseLinkDestination(text, at, size)
    if found.ok:
        written = found.str
        begin = _skip_blanks(text, found.pos)
        named = state.md.helpers.parseLinkTitle(text, begin, size)
        has_title = named.ok and begin != found.pos
        title = named.str if has_title else ""
        at = _skip_blanks(text, named.pos) if has_title else begin
    if not text.startswith(")", at):
        return None
    href = state.md.normalizeLink(written)
    return _Address(at + 1, href, title) if state.md.validateLink(href) else None


def _reference(state: StateInline, start: int, label_end: int) -> _Address | None:
    """Look up `[label][other label]`, `[label][]` or `[label]`."""
    known = state.env.get("references")
    if not known:
        return None
    other = _LABEL.match(state.src, label_end + 1)
    end = other.end() if other else label_end + 1
    label = other[1] if other else ""
    if not label and label_end - start <= _MAX_LABEL_CHARS:
        label = state.src[start:label_end]
    label = normalizeReference(label)
    ref = known.get(label)
    return _Address(end, ref["href"], ref["title"], label) if ref else None


def _skip_blanks(text: str, at: int) -> int:
    blanks = _BLANKS.match(text, at)
    return blanks.end() if blanks else at
