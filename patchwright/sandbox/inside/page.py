"""Fetch a page and print it as text that reads well, as one JSON object in a file."""

from __future__ import annotations

import codecs
import importlib
import json
import os
import re
import shutil
import sys
from contextlib import suppress
from html.parser import HTMLParser
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import List, NamedTuple, Optional, Tuple
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urljoin, urlsplit, urlunsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    UnknownHandler,
    getproxies,
)

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


MAX_BYTES = 4 << 20
SAMPLE = 1024
# The first digit of its status.
REDIRECT = 3
HEADERS = {
    "User-Agent": "Mozilla/5.0 (compatible; Patchwright)",
    "Accept": "text/html,application/xhtml+xml,text/*;q=0.9,*/*;q=0.5",
}
# Of `application/*`, these are text.
_TEXT = re.compile(r"text/|application/(?:.*\+)?(?:json|xml|javascript|yaml|toml|x-sh)")
_META = re.compile(rb"<meta[^>]{1,200}charset=[\"']?([\w-]+)", re.IGNORECASE)


class FetchError(Exception):
    """A page cannot be had; the text tells the model what to do instead."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


class Response(NamedTuple):
    """What a server sent; `url` is where redirects have led to."""

    url: str
    status: int
    content_type: str
    text: str
    is_cut: bool


def fetch(url: str, timeout_s: float) -> Response:
    """Return text of any status; raise `FetchError` for the rest.

    Only http and https are allowed, also after a redirect.
    """
    try:
        request = Request(_ascii(url), headers=HEADERS)  # noqa: S310 - the opener knows http alone
        with _open(request, timeout_s) as answer:
            body = answer.read(MAX_BYTES + 1)
            return _read(answer, body)
    except (OSError, HTTPException, ValueError) as error:
        raise FetchError("unreachable", _explain(url, error)) from error


def _open(request: Request, timeout_s: float) -> HTTPResponse | HTTPError:
    opener = OpenerDirector()
    for handler in (
        *(ProxyHandler(), HTTPHandler(), HTTPSHandler(), UnknownHandler()),
        *(HTTPDefaultErrorHandler(), HTTPRedirectHandler(), HTTPErrorProcessor()),
    ):
        opener.add_handler(handler)
    try:
        answer: HTTPResponse = opener.open(request, timeout=timeout_s)
    except HTTPError as error:
        if error.code // 100 != REDIRECT:
            # A page that says 404 is a page.
            return error
        with error:
            text = f"{request.full_url} redirects, but not to a page: {error.reason}"
            raise FetchError("unreachable", text) from error
    return answer


def _read(answer: HTTPResponse | HTTPError, body: bytes) -> Response:
    url, headers = answer.url, answer.headers
    kind = headers.get_content_type() if "Content-Type" in headers else ""
    kind = kind or _guess(body)
    is_packed = headers.get("Content-Encoding", "identity") != "identity"
    if is_packed or not _TEXT.match(kind):
        what = "packed" if is_packed else kind
        raise FetchError(
            "binary",
            f"{url} is {what}, not text, and cannot be shown; fetch it with a command"
            " if you need it.",
        )
    charset = _known(headers.get_content_charset()) or _charset(body)
    return Response(
        url=url,
        status=answer.getcode() or 0,
        content_type=kind,
        text=body[:MAX_BYTES].decode(charset, "replace"),
        is_cut=len(body) > MAX_BYTES,
    )


def _guess(body: bytes) -> str:
    start = body[:SAMPLE]
    if b"\0" in start:
        return "application/octet-stream"
    return "text/html" if b"<html" in start.lower() else "text/plain"


def _charset(body: bytes) -> str:
    found = _META.search(body[:SAMPLE])
    return _known(found.group(1).decode("ascii") if found else None) or "utf-8"


def _known(charset: str | None) -> str | None:
    try:
        return codecs.lookup(charset).name if charset else None
    except LookupError:
        return None


def _ascii(url: str) -> str:
    """Return an address as it goes over the wire, however a person has written it."""
    parts = urlsplit(url)
    host = parts.netloc
    if not host.isascii():
        host = host.encode("idna").decode("ascii")
    path, query = (quote(part, safe="/%:=&?~+!$,;'@()*[]") for part in parts[2:4])
    return urlunsplit((parts.scheme, host, path, query, ""))


def _explain(url: str, error: Exception) -> str:
    reason = error.reason if isinstance(error, URLError) else error
    text = f"{url} cannot be opened: {reason or type(error).__name__}."
    if isinstance(error, OSError) and not getproxies() and not _has_route():
        text += (
            " This sandbox has no network: only servers that you start in it can be"
            " opened, at 127.0.0.1. Work with what is in the repository."
        )
    return text


def _has_route() -> bool:
    """Tell whether anything but this sandbox can be reached at all."""
    try:
        routes = Path("/proc/net/route").read_text(encoding="ascii")
    except OSError:
        return True
    # The first line is a heading.
    return len(routes.splitlines()) > 1


# As `patchwright.sandbox.action_server.one_off_jobs` has laid it.
RESULT_FD = 3
MAX_CHARACTERS = 40_000
HTML = ("text/html", "application/xhtml+xml")
# A page that is never quiet is read as it is after this time.
SETTLE_MS = 3000
# What style sheets hide is hidden by an attribute too, which `readable` understands.
MARK_HIDDEN = """
for (const element of document.querySelectorAll("body *")) {
  const style = getComputedStyle(element);
  if (style.display === "none" || style.visibility === "hidden") element.hidden = true;
}
"""


def main() -> None:
    os.set_inheritable(RESULT_FD, False)
    url, limit_s = sys.argv[1], float(sys.argv[2])
    try:
        result = open_page(url, limit_s)
    except FetchError as failure:
        result = {"kind": "error", "reason": failure.reason, "text": str(failure)}
    with os.fdopen(RESULT_FD, "w", encoding="utf-8", errors="replace") as file:
        json.dump(result, file, ensure_ascii=False)


def open_page(url: str, limit_s: float) -> dict[str, object]:
    """Return the fields of a `BrowserOutput`; raise `FetchError`."""
    response = fetch(url, limit_s)
    if response.content_type not in HTML:
        return _report(response, "", response.text)
    response = _render(response, limit_s) or response
    page = read_html(response.text, response.url)
    return _report(response, page.title, page.text)


def _report(response: Response, title: str, text: str) -> dict[str, object]:
    return {
        "kind": "browser_output",
        "url": response.url,
        "status": response.status,
        "title": title,
        "text": text[:MAX_CHARACTERS],
        "truncated": response.is_cut or len(text) > MAX_CHARACTERS,
    }


def _render(response: Response, limit_s: float) -> Response | None:
    """Return the page after its scripts ran, or None where there is no browser.

    https://playwright.dev/python/docs/library
    """
    try:
        playwright = importlib.import_module("playwright.sync_api")
    except ImportError:
        return None
    try:
        with playwright.sync_playwright() as browsers:
            own = browsers.chromium.executable_path
            browser = browsers.chromium.launch(executable_path=_find_browser(own))
            page = browser.new_page()
            # Half of the time, so that some is left for the page as it was sent.
            page.set_default_timeout(limit_s / 2 * 1000)
            page.goto(response.url, wait_until="domcontentloaded")
            with suppress(playwright.TimeoutError):
                page.wait_for_load_state("networkidle", timeout=SETTLE_MS)
            page.evaluate(MARK_HIDDEN)
            rendered = response._replace(url=page.url, text=page.content())
            browser.close()
    except (playwright.Error, OSError):
        # No browser is installed, or it cannot run here: the page as it was sent.
        return None
    return rendered


def _find_browser(own: str) -> str | None:
    """Return the image's own Chromium where Playwright has not brought its."""
    if os.access(own, os.X_OK):
        return own
    return shutil.which("chromium") or shutil.which("chromium-browser")
