"""The page with the form for a request."""

from collections.abc import Sequence
from typing import Final

from fastapi.responses import HTMLResponse

from patchwright.workers.web.asking.form import MAX_TEXT_CHARS, Typed
from patchwright.workers.web.forms import form_pages

_PAGES: Final = form_pages("patchwright.workers.web.asking", "same-origin")


def form_page(
    login: str,
    check: str,
    repositories: Sequence[str],
    *,
    typed: Typed | None = None,
    problem: str = "",
    status: int = 200,
) -> HTMLResponse:
    return _PAGES.show(
        "ask.html",
        status=status,
        login=login,
        check=check,
        repositories=repositories,
        typed=typed or Typed(),
        problem=problem,
        max_chars=MAX_TEXT_CHARS,
    )


def stranger_page(sign_in: str) -> HTMLResponse:
    return _PAGES.show("sign_in_first.html", status=401, sign_in=sign_in)
