"""What time it is, and how to wait: the only place that asks the machine."""

import time
from datetime import UTC, datetime
from typing import Final, Protocol

# Counts the time in which the machine sleeps as well: what ran out meanwhile has run
# out. Where there is no such clock, the usual one has to do, which on macOS counts it.
_STEADY: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class Clock(Protocol):
    """Aware wall-clock time, a monotonic counter in seconds, and waiting."""

    def now(self) -> datetime: ...

    def monotonic(self) -> float: ...

    def sleep(self, seconds: float) -> None: ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251 - this is the one source of time

    def monotonic(self) -> float:
        return time.clock_gettime(_STEADY)

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)  # noqa: TID251 - this is the one place that waits
