"""Fetch a page and print it as text, as one JSON object on a file of its own."""

from __future__ import annotations

import codecs
import importlib
import json
import os
import re
import shutil
import sys
from contextlib import suppress
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit, urlunsplit
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

from patchwright.sandbox.inside.html_text import read_html

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
