"""Turn HTML into text that reads well: headings, lists and links, no scripts."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import List, NamedTuple, Optional, Tuple
from urllib.parse import urljoin, urlsplit

Attributes = List[Tuple[str, Optional[str]]]

LEFT_OUT = frozenset(
    ("script", "style", "template", "svg", "canvas", "iframe", "object", "noscript")
)
# https://html.spec.whatwg.org/multipage/syntax.html#void-elements
VOID = frozenset(
    (
        *("area", "base", "br", "col", "embed", "hr", "img", "input"),
        *("link", "meta", "source", "track", "wbr"),
    )
)
HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
BLOCKS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "dd", "details", "div"),
        *("dl", "dt", "fieldset", "figure", "footer", "form", "header", "hr", "main"),
        *("nav", "ol", "p", "pre", "section", "summary", "table", "ul"),
    )
)
_HIDING = re.compile(r"display:none|visibility:hidden")
_SPACES = re.compile(r"[ \t\r\n\f]+")
_BLANK_LINES = re.compile(r"\n\s*\n\s*")


class ReadablePage(NamedTuple):
    title: str
    text: str


def read_html(html: str, url: str) -> ReadablePage:
    """Return what a reader would see; links are written `text (address)`."""
    parser = _TextExtractor(url)
    parser.feed(html)
    parser.close()
    return ReadablePage(" ".join("".join(parser.title).split()), _tidy(parser.pieces))


class _TextExtractor(HTMLParser):
    """Collects pieces of text; `parser.title` stands apart."""

    def __init__(self, url: str) -> None:
        super().__init__(convert_charrefs=True)
        self.title: list[str] = []
        self.pieces: list[str] = []
        self._url = url
        self._in_title = False
        self._pre = 0
        # The element whose content is left out, and how deep we are in such elements.
        self._hidden = ""
        self._depth = 0
        self._link = ""
        self._link_start = 0

    def parse_marked_section(self, i: int, report: int = 1) -> int:
        """Take `<![` for a comment, as browsers do; the parser's own way is to raise.

        https://html.spec.whatwg.org/multipage/parsing.html#markup-declaration-open-state
        """
        return self.parse_bogus_comment(i, bool(report))

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        values = {name: value or "" for name, value in attrs}
        if self._hidden:
            self._depth += tag == self._hidden
        elif tag not in VOID and (tag in LEFT_OUT or _is_hidden(values)):
            self._hidden, self._depth = tag, 1
        else:
            self._open(tag, values)

    def handle_endtag(self, tag: str) -> None:
        if not self._hidden:
            self._close(tag)
        elif tag == self._hidden:
            self._depth -= 1
            if not self._depth:
                self._hidden = ""

    def handle_data(self, data: str) -> None:
        if self._hidden:
            return
        if self._in_title:
            self.title.append(data)
        elif self._pre:
            self.pieces.append(data)
        else:
            self._say(_SPACES.sub(" ", data))

    def _say(self, text: str) -> None:
        """Add text without a second space where there is one."""
        if self._ends_in_space:
            text = text.lstrip(" ")
        if text:
            self.pieces.append(text)

    @property
    def _ends_in_space(self) -> bool:
        return not self.pieces or self.pieces[-1][-1:] in (" ", "\n")

    def _open(self, tag: str, values: dict[str, str]) -> None:
        if tag == "title":
            self._in_title = not self.title
        elif tag == "a":
            self._link = values.get("href", "")
            self._link_start = len(self.pieces)
        elif tag == "img" and values.get("alt"):
            self.pieces.append(f"[{values['alt']}]")
        else:
            self._pre += tag == "pre"
            self._say(_before(tag))

    def _close(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        elif tag == "a":
            self._close_link()
        elif tag in ("td", "th"):
            self.pieces.append(" | ")
        elif tag in BLOCKS or tag in HEADINGS:
            self._pre -= tag == "pre" and self._pre > 0
            self.pieces.append("\n\n")

    def _close_link(self) -> None:
        text = "".join(self.pieces[self._link_start :]).strip()
        target = _absolute(self._url, self._link)
        if text and target and target != text:
            self.pieces.append(f" ({target})")
        self._link = ""


def _is_hidden(values: dict[str, str]) -> bool:
    style = values.get("style", "").replace(" ", "").lower()
    concealed = "hidden" in values or values.get("aria-hidden") == "true"
    return concealed or bool(_HIDING.search(style))


def _before(tag: str) -> str:
    if tag in HEADINGS:
        return "\n\n" + HEADINGS[tag]
    if tag == "li":
        return "\n- "
    if tag in ("br", "tr"):
        return "\n"
    return "\n\n" if tag in BLOCKS else ""


def _absolute(base: str, target: str) -> str:
    """Return where a link leads, or nothing for a place on the same page."""
    if not target or target.startswith("#"):
        return ""
    try:
        absolute = urljoin(base, target)
        return absolute if urlsplit(absolute).scheme in ("http", "https") else ""
    except ValueError:
        return ""


def _tidy(pieces: list[str]) -> str:
    lines = [line.rstrip() for line in "".join(pieces).split("\n")]
    return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip()
