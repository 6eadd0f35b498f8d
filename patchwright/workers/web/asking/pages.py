"""The page with the form for a request."""

from collections.abc import Sequence
from typing import Final

from fastapi.responses import HTMLResponse

from patchwright.workers.web.asking.form import MAX_TEXT_CHARS, FormInput
from patchwright.workers.web.forms import form_pages

_PAGES: Final = form_pages("patchwright.workers.web.asking", "same-origin")


def request_form_page(
    login: str,
    check: str,
    repositories: Sequence[str],
    *,
    typed: FormInput | None = None,
    problem: str = "",
    status: int = 200,
) -> HTMLResponse:
    return _PAGES.show(
        "ask.html",
        status=status,
        login=login,
        check=check,
        repositories=repositories,
        typed=typed or FormInput(),
        problem=problem,
        max_chars=MAX_TEXT_CHARS,
    )


def sign_in_first_page(sign_in: str) -> HTMLResponse:
    return _PAGES.show("sign_in_first.html", status=401, sign_in=sign_in)
