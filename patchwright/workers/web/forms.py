"""Pages with forms or a message, and the cookies by which a browser is known."""

import hmac
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

import jwt
from fastapi import FastAPI, Request, Response
from fastapi.exception_handlers import http_exception_handler
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from jwt.types import Options
from starlette.exceptions import HTTPException

from patchwright.core.system.clock import Clock


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


_NOT_FOUND: Final = 404
_PAGES: Final = form_pages("same-origin")


def message_page(
    title: str,
    text: str,
    *,
    status: int = 200,
    links: Mapping[str, str] = MappingProxyType({}),
) -> HTMLResponse:
    """Return a page of one paragraph; `links` are addresses by what they are called."""
    return _PAGES.show(
        "message.html", status=status, heading=title, text=text, links=links
    )


def wants_page(request: Request) -> bool:
    """Tell whether a browser asks: HTML is among the formats that it accepts."""
    return "text/html" in request.headers.get("accept", "")


def add_page_errors(app: FastAPI, prefix: str) -> None:
    """Show browsers a page where there is none; programs get JSON.

    `prefix` is the path under which people reach us.
    """

    @app.exception_handler(HTTPException)
    async def show(request: Request, error: HTTPException) -> Response:
        if error.status_code != _NOT_FOUND or not wants_page(request):
            return await http_exception_handler(request, error)
        return message_page(
            "Page not found",
            "There is no page at this address.",
            status=_NOT_FOUND,
            links={"Go to the start page": f"{prefix}/"},
        )


_FORM_TOKEN: Final = re.compile(r"([\w-]{22})\.([0-9a-f]{64})\Z")
_WORD_BYTES: Final = 16


@dataclass(frozen=True)
class FormTokens:
    """Hidden fields that show that a form is of ours, and meant for who sends it.

    Each has a word of its own, which makes a form that is sent twice the same request.
    """

    secret: bytes

    def new(self, holder: str) -> str:
        """Return one for somebody, which no other page and nobody else can make."""
        word = secrets.token_urlsafe(_WORD_BYTES)
        return f"{word}.{self._sign(word, holder)}"

    def word_of(self, token: str, holder: str) -> str:
        """Return the form's own word; empty for a form that is not of ours."""
        parts = _FORM_TOKEN.match(token)
        if parts is None:
            return ""
        is_ours = hmac.compare_digest(self._sign(parts[1], holder), parts[2])
        return parts[1] if is_ours else ""

    def _sign(self, word: str, holder: str) -> str:
        key = hmac.digest(self.secret, b"form for a request", "sha256")
        return hmac.digest(key, f"{word} {holder}".encode(), "sha256").hex()


_ALGORITHM: Final = "HS256"
# The times are judged by our own clock.
_UNTIMED: Final[Options] = {
    "require": ["exp"],
    "verify_exp": False,
    "verify_iat": False,
}


@dataclass(frozen=True)
class SignedCookie:
    """One kind of cookie: its name, who gets it sent back, and how long it counts.

    The browser sends it along when somebody follows a link to us, and no script reads
    it. `secure` keeps it off plain HTTP.
    """

    name: str
    path: str
    life: timedelta
    secret: bytes
    clock: Clock
    secure: bool

    def put(self, response: Response, facts: Mapping[str, str]) -> None:
        expires_at = self.clock.now() + self.life
        text = jwt.encode(
            {**facts, "exp": int(expires_at.timestamp())}, self._key(), _ALGORITHM
        )
        response.set_cookie(
            self.name,
            text,
            max_age=int(self.life.total_seconds()),
            path=self.path,
            secure=self.secure,
            httponly=True,
            samesite="lax",
        )

    def read(self, request: Request) -> Mapping[str, str]:
        """Return the facts, none of them if the cookie is missing, old or not ours."""
        try:
            claims = jwt.decode(
                request.cookies.get(self.name, ""),
                self._key(),
                [_ALGORITHM],
                options=_UNTIMED,
            )
        except jwt.InvalidTokenError:
            return {}
        expires_at = claims.pop("exp")
        if not isinstance(expires_at, int) or expires_at <= self._now():
            return {}
        return {name: str(value) for name, value in claims.items()}

    def drop(self, response: Response) -> None:
        response.delete_cookie(
            self.name,
            path=self.path,
            secure=self.secure,
            httponly=True,
            samesite="lax",
        )

    def _key(self) -> bytes:
        # Every kind has a key of its own, so that none passes for another.
        return hmac.digest(self.secret, f"cookie {self.name}".encode(), "sha256")

    def _now(self) -> float:
        return self.clock.now().timestamp()
