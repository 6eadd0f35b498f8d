"""The frame of the pages for people who are signed in: navigation, style, scripts."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final
from urllib.parse import quote

from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from patchwright.core.types.base import Value
from patchwright.workers.accounts.principal import Principal, Role
from patchwright.workers.web.forms import FormTokens

_HERE: Final = "patchwright.workers.web.site"
# Nothing runs or is loaded that is not a file of ours: no page has a script inside.
_POLICY: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS: Final[Mapping[str, str]] = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": _POLICY,
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex, nofollow",
}


class NavigationItem(Value):
    """A page that everybody with this role finds in the navigation."""

    title: str
    path: str
    least: Role = Role.VIEWER


@dataclass(frozen=True)
class Site:
    """Shows pages in the frame that all of them have.

    `prefix` is the path under which people reach us, `login_path` where they sign in,
    empty where they cannot, `navigation` what the installation has pages for, in order.
    """

    prefix: str
    login_path: str
    form_tokens: FormTokens
    navigation: tuple[NavigationItem, ...] = ()

    def show(
        self,
        template: str,
        principal: Principal | None,
        *,
        status: int = 200,
        **facts: object,
    ) -> HTMLResponse:
        """Render a template that extends `site.html`.

        Every template knows `prefix`, `principal`, `navigation`, `asset` (the address
        of a file of ours), and `check`, which a form sends back in the hidden field of
        that name.
        """
        frame = {
            "prefix": self.prefix,
            "principal": principal,
            "navigation": self._navigation_of(principal),
            "check": self.form_tokens.new(principal.key) if principal else "",
            "asset": self.asset,
        }
        html = render(template, **frame, **facts)
        return HTMLResponse(html, status, dict(HEADERS))

    def asset(self, name: str) -> str:
        """Return the address of an asset, another one for each content of it."""
        return f"{self.prefix}/assets/{name}?v={_assets()[name].version}"

    def path_of(self, path: str) -> str:
        """Return the path if the installation has a page there, empty otherwise."""
        return path if any(one.path == path for one in self.navigation) else ""

    def sign_in_first(self, request: Request) -> HTMLResponse:
        """Ask somebody to sign in, and bring them back to this page then."""
        back = f"{self.prefix}{request.url.path}"
        if request.url.query:
            back = f"{back}?{request.url.query}"
        login = f"{self.prefix}{self.login_path}?next={quote(back, safe='')}"
        sign_in = login if self.login_path else ""
        return self.show("sign_in_first.html", None, status=401, sign_in=sign_in)

    def refuse(self, principal: Principal, needed: Role) -> HTMLResponse:
        """Say that a page takes another role than somebody has."""
        return self.show("refused.html", principal, status=403, needed=needed)

    def _navigation_of(self, principal: Principal | None) -> list[NavigationItem]:
        if principal is None:
            return []
        return [one for one in self.navigation if principal.role.allows(one.least)]


def render(template: str, **facts: object) -> str:
    """Render a template that is a part of a page."""
    return _environment().get_template(template).render(**facts)


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader(_HERE),
        autoescape=True,
        # A file that is looked at for each part of a page is a hundred each time.
        auto_reload=False,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


class _Asset(Value):
    content: bytes
    media_type: str
    version: str


_MEDIA_TYPES: Final = {"css": "text/css", "js": "text/javascript"}
_A_YEAR_S: Final = 31_536_000


@cache
def _assets() -> Mapping[str, _Asset]:
    folder = resources.files(_HERE) / "assets"
    return {
        one.name: _Asset(
            content=content,
            media_type=_MEDIA_TYPES[one.name.rpartition(".")[2]],
            version=hashlib.sha256(content).hexdigest()[:12],
        )
        for one in folder.iterdir()
        for content in [one.read_bytes()]
    }


def add_assets(app: FastAPI) -> None:
    @app.get("/assets/{name}", include_in_schema=False)
    async def asset(name: str) -> Response:
        """Return a style sheet or a script of the pages."""
        found = _assets().get(name)
        if found is None:
            return Response(status_code=404)
        headers = {
            # Its address changes with its content.
            "Cache-Control": f"public, max-age={_A_YEAR_S}, immutable",
            "X-Content-Type-Options": "nosniff",
        }
        return Response(found.content, 200, headers, found.media_type)
