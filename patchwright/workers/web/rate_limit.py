"""How often somebody may try something within a while, counted by this process."""

import ipaddress
import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Final

from starlette.requests import HTTPConnection

from patchwright.core.system.clock import Clock

_MOST_KNOWN: Final = 10_000
# Who has one address of such a network has all of them.
# https://www.rfc-editor.org/rfc/rfc6177#section-2
_V6_NETWORK_BITS: Final = 64


@dataclass(frozen=True, slots=True)
class Attempt:
    """A try: how many more there are, and in how many seconds one is back."""

    is_allowed: bool
    left: int
    wait_s: int


class AttemptLimit:
    """Allows `most` tries within `period`, by whatever tells one from another.

    A try that is refused does not count. It remembers `most_known` of those who try.
    """

    def __init__(
        self,
        clock: Clock,
        most: int,
        period: timedelta,
        *,
        most_known: int = _MOST_KNOWN,
    ) -> None:
        self.most, self.period = most, period
        self._clock, self._most_known = clock, most_known
        self._tries: dict[str, deque[datetime]] = {}
        self._lock = Lock()

    def take(self, who: str) -> bool:
        """Count one more; return whether it is not too often."""
        return self.count(who).is_allowed

    def count(self, who: str) -> Attempt:
        """Count one more, and tell how they stand."""
        with self._lock:
            now = self._clock.now()
            tries = self._recent(who, now)
            is_allowed = len(tries) < self.most
            if is_allowed:
                if len(self._tries) >= self._most_known and who not in self._tries:
                    self._forget(now)
                tries.append(now)
                self._tries[who] = tries
            return Attempt(is_allowed, self.most - len(tries), self._wait(tries, now))

    def has_room(self, who: str) -> bool:
        """Tell whether one more would be allowed, without counting it."""
        with self._lock:
            return len(self._recent(who, self._clock.now())) < self.most

    def wait_s(self, who: str) -> int:
        """Return in how many seconds the oldest try does not count any more."""
        with self._lock:
            now = self._clock.now()
            return self._wait(self._recent(who, now), now)

    def _recent(self, who: str, now: datetime) -> deque[datetime]:
        tries = self._tries.get(who)
        if tries is None:
            return deque()
        oldest = now - self.period
        while tries and tries[0] <= oldest:
            tries.popleft()
        return tries

    def _wait(self, tries: deque[datetime], now: datetime) -> int:
        since = now - tries[0] if tries else self.period
        return math.ceil((self.period - since).total_seconds())

    def _forget(self, now: datetime) -> None:
        """Make room: those who came first go, if all have tried within the period."""
        oldest = now - self.period
        known = {
            who: tries
            for who, tries in self._tries.items()
            if tries and tries[-1] > oldest
        }
        newest = list(known.items())[-self._most_known // 2 :]
        self._tries = known if len(known) < self._most_known else dict(newest)


def quota_headers(limit: AttemptLimit, attempt: Attempt) -> Mapping[str, str]:
    """Say what is allowed, and what is left of it.

    https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/
    """
    window_s = int(limit.period.total_seconds())
    return {
        "RateLimit-Policy": f'"requests";q={limit.most};w={window_s}',
        "RateLimit": f'"requests";r={attempt.left};t={attempt.wait_s}',
    }


def address_of(request: HTTPConnection) -> str:
    """Return whom a request comes from, as far as the network tells.

    It is the client as the trusted proxies name it.
    """
    host = request.client.host if request.client else ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if address.version == 4:  # noqa: PLR2004 - the versions of IP
        return host
    return str(ipaddress.ip_network((int(address), _V6_NETWORK_BITS), strict=False))
