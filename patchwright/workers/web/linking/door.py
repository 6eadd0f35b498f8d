"""What the addresses of `/link` work with, and what a browser holds meanwhile."""

import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from fastapi import Request, Response

from patchwright.core.types.base import Value
from patchwright.core.types.grants import PersonalToken
from patchwright.core.types.ids import JobId
from patchwright.core.types.people import Actor
from patchwright.workers.store.link_rows import LinkRequest
from patchwright.workers.store.linking import Linker
from patchwright.workers.store.links import LinkStore, digest_of
from patchwright.workers.web.cookies import SignedCookie

_WORD_BYTES: Final = 32


class ForgeProvider(Protocol):
    """A forge at which people prove who they are, and let us act for them."""

    def address(self, state: str, verifier: str) -> str:
        """Return where a browser goes for that."""
        ...

    def fetch_grant(self, code: str, verifier: str) -> tuple[Actor, PersonalToken]:
        """Return who came back with the code; raises `ServiceError` if nobody did."""
        ...


@dataclass(frozen=True)
class LinkingRoutes:
    """`find_person` tells who an actor is until now; `forge_url` has the sign-in."""

    provider: ForgeProvider
    links: LinkStore
    linker: Linker
    find_person: Callable[[Actor], Actor | None]
    cookie: SignedCookie
    dispatch: Callable[[JobId], None]
    forge_url: str
    prefix: str = ""


class BrowserState(Value):
    """What the cookie says: which browser it is, and what it was doing last.

    `request` is the digest of a link, and `verifier` what proves to the forge that it
    is the one that was sent there.
    """

    browser: str = ""
    request: str = ""
    verifier: str = ""

    @property
    def browser_digest(self) -> str:
        return digest_of(self.browser)

    def has(self, found: LinkRequest) -> bool:
        """Tell whether the link is bound to this browser."""
        return found.browser is not None and hmac.compare_digest(
            found.browser, self.browser_digest
        )

    def check(self, found: LinkRequest) -> str:
        """Return what a page of ours has in its form, and no other page can know.

        It stands for what the page shows: the link, and the person if there is one.
        The `Origin` of a form would tell less, as `no-referrer` makes it `null`.
        https://fetch.spec.whatwg.org/#append-a-request-origin-header
        """
        person = found.person.external_id if found.person else ""
        shown = f"{found.digest} {person}".encode()
        return hmac.digest(self.browser.encode(), shown, "sha256").hex()

    def sent(self, found: LinkRequest, check: str) -> bool:
        """Tell whether a form comes from a page that this browser was shown."""
        if not self.browser:
            return False
        return hmac.compare_digest(self.check(found).encode(), check.encode())


def read_browser_state(routes: LinkingRoutes, request: Request) -> BrowserState:
    return BrowserState.model_validate(routes.cookie.read(request))


def with_browser_id(held: BrowserState) -> BrowserState:
    """Return the same with a name for the browser, new if it had none."""
    if held.browser:
        return held
    return BrowserState(browser=secrets.token_urlsafe(_WORD_BYTES))


def store_browser_state(routes: LinkingRoutes, response: Response, held: BrowserState) -> None:
    routes.cookie.put(response, held.model_dump())
