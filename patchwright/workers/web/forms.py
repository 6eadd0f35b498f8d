"""Pages with forms: how they are shown, and what a browser may do with them."""

import secrets
from dataclasses import dataclass
from urllib.parse import urlsplit

from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined


@dataclass(frozen=True)
class FormPages:
    """Templates in the layout of all these pages.

    `referrer` says what others get to know of a page's address.
    https://www.w3.org/TR/referrer-policy/#referrer-policies
    """

    templates: Environment
    referrer: str

    def show(
        self, name: str, *, status: int = 200, sends_to: str = "", **facts: object
    ) -> HTMLResponse:
        """Show one; a form on it may be sent to us and to that one other address."""
        nonce = secrets.token_urlsafe(16)
        html = self.templates.get_template(name).render(nonce=nonce, **facts)
        headers = {
            "Content-Security-Policy": _policy(nonce, sends_to),
            "Cache-Control": "no-store",
            "Referrer-Policy": self.referrer,
            "X-Content-Type-Options": "nosniff",
            "X-Robots-Tag": "noindex, nofollow",
        }
        return HTMLResponse(html, status, headers)


def form_pages(referrer: str) -> FormPages:
    """Return the templates of forms, which are in `web/templates`."""
    templates = Environment(
        loader=PackageLoader("patchwright.workers.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return FormPages(templates, referrer)


def _policy(nonce: str, sends_to: str) -> str:
    """Return a policy for the content: no scripts, and the styles with that nonce."""
    parts = urlsplit(sends_to)
    other = f" {parts.scheme}://{parts.netloc}" if sends_to else ""
    rules = (
        "default-src 'none'",
        f"style-src 'nonce-{nonce}'",
        f"form-action 'self'{other}",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
    return "; ".join(rules)
