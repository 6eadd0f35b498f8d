"""A clock that stands still until somebody sleeps."""

from datetime import UTC, datetime, timedelta

START = datetime(2030, 1, 1, 12, 0, tzinfo=UTC)


class FakeClock:
    """Sleeping moves it on at once; `slept` lists every wait in seconds."""

    def __init__(self, start: datetime = START) -> None:
        self._start = start
        self._elapsed_s = 0.0
        self.slept: list[float] = []

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._elapsed_s)

    def monotonic(self) -> float:
        return self._elapsed_s

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.advance(seconds)

    def advance(self, seconds: float) -> None:
        self._elapsed_s += seconds
