"""Open a page and print it as text, as one JSON object on a file of its own."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import sys
from contextlib import suppress

from patchwright.sandbox.inside.fetching import FetchError, Response, fetch
from patchwright.sandbox.inside.readable import read_html

# As `patchwright.sandbox.action_server.browsing` has laid it.
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
