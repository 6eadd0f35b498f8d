"""The machine's clock, which a story can move on."""

from datetime import datetime, timedelta

from patchwright.core.system.clock import SystemClock


class MovableClock:
    """Runs as the machine's clock does; `advance` lets time pass at once."""

    def __init__(self) -> None:
        self._machine = SystemClock()
        self._ahead_s = 0.0

    def now(self) -> datetime:
        return self._machine.now() + timedelta(seconds=self._ahead_s)

    def monotonic(self) -> float:
        return self._machine.monotonic() + self._ahead_s

    def sleep(self, seconds: float) -> None:
        self.advance(seconds)

    def advance(self, seconds: float) -> None:
        self._ahead_s += seconds
