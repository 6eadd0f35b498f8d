"""Make HTML of what a page shows, and answers that tell browsers to trust nothing."""

import secrets
from functools import cache
from pathlib import Path
from typing import Final

from fastapi import Response
from jinja2 import Environment, PackageLoader, StrictUndefined

from patchwright.workers.web.pages.entries import EventEntry
from patchwright.workers.web.pages.views import EventsView, RunHead, RunView

_FOLDER: Final = Path(__file__).with_name("templates")
_ENVIRONMENT: Final = Environment(
    loader=PackageLoader("patchwright.workers.web.pages"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex, nofollow",
}


def run_page(view: RunView, events: EventsView) -> Response:
    nonce = secrets.token_urlsafe(16)
    html = _ENVIRONMENT.get_template("run.html").render(
        run=view, events=events, nonce=nonce
    )
    return _html_response(html, 200, nonce)


def missing_page(sign_in: str) -> Response:
    """Answer alike for runs that are not there and those that must not be seen."""
    html = _ENVIRONMENT.get_template("missing.html").render(sign_in=sign_in)
    return _html_response(html, 404)


def entry_html(entry: EventEntry) -> str:
    return _ENVIRONMENT.get_template("entry.html").render(entry=entry)


def head_html(head: RunHead) -> str:
    return _ENVIRONMENT.get_template("head.html").render(head=head)


def style() -> Response:
    """Bring the style of the pages."""
    headers = {**_HEADERS, "Cache-Control": "public, max-age=3600"}
    return Response(_style_text(), 200, headers, "text/css")


@cache
def _style_text() -> str:
    return (_FOLDER / "style.css").read_text("utf-8")


def _html_response(html: str, status: int, nonce: str = "") -> Response:
    script = f"'nonce-{nonce}'" if nonce else "'none'"
    policy = (
        f"default-src 'none'; style-src 'self'; script-src {script}; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )
    headers = {**_HEADERS, "Content-Security-Policy": policy}
    return Response(html, status, headers, "text/html; charset=utf-8")
