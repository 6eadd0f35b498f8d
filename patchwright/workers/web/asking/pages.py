"""The page with the form for a request."""

import secrets
from collections.abc import Sequence
from typing import Final

from fastapi.responses import HTMLResponse
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from patchwright.workers.web.asking.form import MAX_TEXT_CHARS, Typed
from patchwright.workers.web.forms import form_policy

# The layout is that of the set-up pages.
_PAGES: Final = Environment(
    loader=ChoiceLoader(
        (
            PackageLoader("patchwright.workers.web.asking"),
            PackageLoader("patchwright.workers.web.setup"),
        )
    ),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def form_page(
    login: str,
    check: str,
    repositories: Sequence[str],
    *,
    typed: Typed | None = None,
    problem: str = "",
    status: int = 200,
) -> HTMLResponse:
    return _page(
        "ask.html",
        status,
        login=login,
        check=check,
        repositories=repositories,
        typed=typed or Typed(),
        problem=problem,
        max_chars=MAX_TEXT_CHARS,
    )


def stranger_page(sign_in: str) -> HTMLResponse:
    return _page("sign_in_first.html", 401, sign_in=sign_in)


def _page(name: str, status: int, **facts: object) -> HTMLResponse:
    nonce = secrets.token_urlsafe(16)
    html = _PAGES.get_template(name).render(nonce=nonce, **facts)
    headers = {
        "Content-Security-Policy": form_policy(nonce),
        "Cache-Control": "no-store",
        "Referrer-Policy": "same-origin",
        "X-Content-Type-Options": "nosniff",
        "X-Robots-Tag": "noindex, nofollow",
    }
    return HTMLResponse(html, status, headers)
