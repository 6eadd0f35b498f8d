"""How often somebody may try something within a while, counted by this process."""

from collections import deque
from datetime import datetime, timedelta
from threading import Lock
from typing import Final

from patchwright.core.system.clock import Clock

_MOST_KNOWN: Final = 10_000


class AttemptLimit:
    """Allows `most` tries within `period`, by whatever tells one from another."""

    def __init__(self, clock: Clock, most: int, period: timedelta) -> None:
        self._clock, self._most, self._period = clock, most, period
        self._tries: dict[str, deque[datetime]] = {}
        self._lock = Lock()

    def take(self, who: str) -> bool:
        """Count one more; return whether it is not too often."""
        with self._lock:
            if not self._has_room(who):
                return False
            if len(self._tries) >= _MOST_KNOWN:
                self._forget_old()
            self._tries.setdefault(who, deque()).append(self._clock.now())
            return True

    def has_room(self, who: str) -> bool:
        """Tell whether one more would be allowed, without counting it."""
        with self._lock:
            return self._has_room(who)

    def _has_room(self, who: str) -> bool:
        tries = self._tries.get(who)
        if tries is None:
            return True
        oldest = self._clock.now() - self._period
        while tries and tries[0] <= oldest:
            tries.popleft()
        return len(tries) < self._most

    def _forget_old(self) -> None:
        oldest = self._clock.now() - self._period
        self._tries = {
            who: tries for who, tries in self._tries.items() if tries[-1] > oldest
        }
