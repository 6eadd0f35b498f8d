"""Who may set up the service: whoever has the key, from the one browser it came in."""

import hashlib
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Final

from pydantic import SecretStr

from patchwright.core.clock import Clock

# As long as GitHub lets a person take between the manifest and the App.
# https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
SETUP_TIME: Final = timedelta(hours=1)


@dataclass(frozen=True)
class _SetupVisit:
    state: str
    until: datetime


class SetupVisitors:
    """Knows the browsers that were let in, and what each sent to GitHub along.

    With an `admin_token` that is the key, as often as it is shown. Otherwise a key is
    made that opens once, so that who finds it later in a log is too late.
    """

    def __init__(self, admin_token: SecretStr | None, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._visits: dict[str, _SetupVisit] = {}
        self.once = "" if admin_token else secrets.token_urlsafe(32)
        self._key = admin_token.get_secret_value() if admin_token else self.once

    def let_in(self, key: str) -> str | None:
        """Return what the browser is known by from now on, or None: not the key."""
        with self._lock:
            if not self._key or not _same(self._key, key):
                return None
            if self.once:
                self._key = ""
            browser = secrets.token_urlsafe(32)
            self._visits[_name(browser)] = self._begin()
            return browser

    def find_state(self, browser: str) -> str | None:
        """Return what GitHub is asked to send back, or None: not let in."""
        with self._lock:
            visit = self._find(browser)
            return visit.state if visit else None

    def use_state(self, browser: str, state: str) -> bool:
        """Tell whether GitHub sent it back to the same browser; it counts once."""
        with self._lock:
            visit = self._find(browser)
            if visit is None or not _same(visit.state, state):
                return False
            self._visits[_name(browser)] = self._begin()
            return True

    def _begin(self) -> _SetupVisit:
        return _SetupVisit(secrets.token_urlsafe(32), self._clock.now() + SETUP_TIME)

    def _find(self, browser: str) -> _SetupVisit | None:
        for name in list(self._outdated()):
            del self._visits[name]
        return self._visits.get(_name(browser))

    def _outdated(self) -> Iterator[str]:
        now = self._clock.now()
        return (name for name, visit in self._visits.items() if visit.until <= now)


def _name(browser: str) -> str:
    # To look for a digest tells nothing by the time it takes.
    return hashlib.sha256(browser.encode()).hexdigest()


def _same(known: str, told: str) -> bool:
    return secrets.compare_digest(known.encode(), told.encode())
