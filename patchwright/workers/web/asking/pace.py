"""How often one person may send the form: each time costs questions to the forge."""

from collections import deque
from datetime import datetime, timedelta
from typing import Final

from patchwright.core.clock import Clock
from patchwright.core.types.people import Actor

MOST: Final = 30
_WITHIN: Final = timedelta(hours=1)
_MOST_KNOWN: Final = 10_000


class Pace:
    """Counts for this process alone; not for several threads at once."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._sent: dict[str, deque[datetime]] = {}

    def take(self, viewer: Actor) -> bool:
        """Count one more time; return whether it is not too often."""
        if len(self._sent) >= _MOST_KNOWN:
            self._sent.clear()
        now = self._clock.now()
        sent = self._sent.setdefault(viewer.subject, deque(maxlen=MOST))
        if len(sent) == MOST and now - sent[0] < _WITHIN:
            return False
        sent.append(now)
        return True
