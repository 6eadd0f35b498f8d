"""How often one person may send the form: each time costs questions to the forge."""

from collections import deque
from datetime import datetime, timedelta
from typing import Final

from patchwright.core.clock import Clock
from patchwright.core.types.people import Actor

MAX_PER_HOUR: Final = 30
_PERIOD: Final = timedelta(hours=1)
_MOST_VIEWERS: Final = 10_000


class FormRateLimit:
    """Counts for this process alone; not for several threads at once."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._sent: dict[str, deque[datetime]] = {}

    def take(self, viewer: Actor) -> bool:
        """Count one more time; return whether it is not too often."""
        if len(self._sent) >= _MOST_VIEWERS:
            self._sent.clear()
        now = self._clock.now()
        sent = self._sent.setdefault(viewer.subject, deque(maxlen=MAX_PER_HOUR))
        if len(sent) == MAX_PER_HOUR and now - sent[0] < _PERIOD:
            return False
        sent.append(now)
        return True
