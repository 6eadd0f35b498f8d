"""Who may set up the service: the links that open the pages, and who opened them."""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from threading import Lock
from typing import Final, TypeVar

from pydantic import SecretStr

from patchwright.core.plugin_host import SecretVault
from patchwright.core.system.clock import Clock
from patchwright.core.types.base import Value
from patchwright.workers.store.account_links import digest_of

LINK_LIFE: Final = timedelta(minutes=15)
# As long as GitHub lets a person take between the manifest and the App.
# https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
SETUP_TIME: Final = timedelta(hours=1)
# Nobody guesses 128 bits, and the link stays short enough for a line of a terminal.
_KEY_BYTES: Final = 16
_BROWSER_BYTES: Final = 32
_LINK_NAME: Final = "setup-link"
_BROWSER_NAME: Final = "setup-link-browser"


_T = TypeVar("_T", bound=Value)


def setup_path(service: str) -> str:
    return f"/setup/{service}"


def setup_url(public_url: str, service: str, key: str) -> str:
    """Return where the pages are; with a key that is a link that opens them."""
    return f"{public_url}{setup_path(service)}" + (f"?key={key}" if key else "")


class LinkRefusal(StrEnum):
    """Why a link does not open the pages."""

    UNKNOWN = "unknown"
    EXPIRED = "expired"
    OTHER_BROWSER = "other-browser"


class _Link(Value):
    """The newest link; `key` is the digest of its key."""

    key: str
    expires_at: datetime


class _Opened(Value):
    """Which browser has opened the link with that digest first, by its digest."""

    key: str
    browser: str


class SetupLinks:
    """The one link that is valid, in the database: any process may replace it.

    What is stored opens nothing: it is the digest of a key.
    """

    def __init__(self, vault: SecretVault, service: str, clock: Clock) -> None:
        self._vault, self._owner, self._clock = vault, service, clock

    def make(self) -> str:
        """Return the key of a new link, which replaces the one before."""
        key = secrets.token_urlsafe(_KEY_BYTES)
        link = _Link(key=digest_of(key), expires_at=self._clock.now() + LINK_LIFE)
        self._put(_LINK_NAME, link)
        return key

    def open(self, key: str, browser: str) -> LinkRefusal | None:
        """Open the link in the browser with that digest; return why it does not open.

        It works in the first browser that opens it, as often as it is opened there.
        """
        link = self._fetch(_LINK_NAME, _Link)
        if link is None or not _is_same(link.key, digest_of(key)):
            return LinkRefusal.UNKNOWN
        if link.expires_at <= self._clock.now():
            return LinkRefusal.EXPIRED
        opened = self._fetch(_BROWSER_NAME, _Opened)
        if opened is None or not _is_same(opened.key, link.key):
            self._put(_BROWSER_NAME, _Opened(key=link.key, browser=browser))
            return None
        is_first = _is_same(opened.browser, browser)
        return None if is_first else LinkRefusal.OTHER_BROWSER

    def is_current(self, link: str) -> bool:
        """Tell whether no newer link has replaced the one with that digest."""
        current = self._fetch(_LINK_NAME, _Link)
        return current is not None and _is_same(current.key, link)

    def _put(self, name: str, value: Value) -> None:
        self._vault.put(name, SecretStr(value.model_dump_json()), owner=self._owner)

    def _fetch(self, name: str, kind: type[_T]) -> _T | None:
        text = self._vault.fetch(name, owner=self._owner)
        return kind.model_validate_json(text.get_secret_value()) if text else None


@dataclass(frozen=True)
class _SetupSession:
    """A browser with access; `link` is the digest of its link, empty with a token."""

    state: str
    until: datetime
    link: str


class SetupVisitors:
    """Knows the browsers with access, and the state that each sent to the forge.

    With an `admin_token` people show that, as often as they like. Otherwise they open a
    link, whose browser has no access any more after a newer link was made.
    """

    def __init__(
        self, admin_token: SecretStr | None, links: SetupLinks, clock: Clock
    ) -> None:
        self._admin_token = admin_token.get_secret_value() if admin_token else ""
        self._links = links
        self._clock = clock
        self._lock = Lock()
        self._sessions: dict[str, _SetupSession] = {}

    @property
    def asks_for_token(self) -> bool:
        return bool(self._admin_token)

    def new_key(self) -> str:
        """Return the key of a new link; empty where a token is asked for."""
        return "" if self.asks_for_token else self._links.make()

    def open_link(self, key: str, browser: str) -> str | LinkRefusal:
        """Return what the browser is known by from now on, or why it has no access.

        A browser that has access keeps the name that it had.
        """
        if self.asks_for_token:
            return LinkRefusal.UNKNOWN
        with self._lock:
            # A name that we have not given may be known to somebody else.
            name = browser if self._find(browser) else _new_browser()
            refusal = self._links.open(key, digest_of(name))
            if refusal is None and self._find(name) is None:
                self._sessions[digest_of(name)] = self._begin(digest_of(key))
            return refusal or name

    def show_token(self, token: str) -> str | None:
        """Return what the browser is known by from now on, None for another token."""
        if not self._admin_token or not _is_same(self._admin_token, token):
            return None
        with self._lock:
            browser = _new_browser()
            self._sessions[digest_of(browser)] = self._begin("")
            return browser

    def find_state(self, browser: str) -> str | None:
        """Return the state that the forge sends back, or None without access."""
        with self._lock:
            session = self._find(browser)
            return session.state if session else None

    def use_state(self, browser: str, state: str) -> bool:
        """Tell whether the forge sent it back to the same browser; it works once."""
        with self._lock:
            session = self._find(browser)
            if session is None or not _is_same(session.state, state):
                return False
            self._sessions[digest_of(browser)] = self._begin(session.link)
            return True

    def _begin(self, link: str) -> _SetupSession:
        until = self._clock.now() + SETUP_TIME
        return _SetupSession(secrets.token_urlsafe(32), until, link)

    def _find(self, browser: str) -> _SetupSession | None:
        for name in list(self._outdated()):
            del self._sessions[name]
        session = self._sessions.get(digest_of(browser))
        if session and session.link and not self._links.is_current(session.link):
            return None
        return session

    def _outdated(self) -> Iterator[str]:
        now = self._clock.now()
        return (
            name for name, session in self._sessions.items() if session.until <= now
        )


def _new_browser() -> str:
    return secrets.token_urlsafe(_BROWSER_BYTES)


def _is_same(known: str, given: str) -> bool:
    return secrets.compare_digest(known.encode(), given.encode())
