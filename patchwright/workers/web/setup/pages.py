"""The pages that a person sees while the App is made."""

import secrets
from typing import Final

from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from patchwright.workers.web.forms import form_policy

_PAGES: Final = Environment(
    loader=PackageLoader(__package__ or __name__),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def page(
    name: str, *, status: int = 200, sends_to: str = "", **facts: object
) -> HTMLResponse:
    """Show a template; a form on it may be sent to us and to that one other address."""
    nonce = secrets.token_urlsafe(16)
    text = _PAGES.get_template(name).render(nonce=nonce, **facts)
    return HTMLResponse(text, status, _headers(nonce, sends_to))


def _headers(nonce: str, sends_to: str) -> dict[str, str]:
    return {
        "Content-Security-Policy": form_policy(nonce, sends_to),
        "Cache-Control": "no-store",
        # GitHub gets to know from where a manifest comes, but not the whole address.
        "Referrer-Policy": "strict-origin",
        "X-Content-Type-Options": "nosniff",
        "X-Robots-Tag": "noindex",
    }
