"""The one place that repeats model calls: how often, how long, and when to give up."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from patchwright.core.clock import Clock
from patchwright.core.llm.budget import CallWatch
from patchwright.core.llm.failures import Failure, Fault

FIRST_WAIT_S = 1.0
LONGEST_WAIT_S = 60.0
# A provider's per-minute limit passes; a wrong address or a dead server does not.
OUTAGE_RETRY_S = 180.0
OUTAGE_TRIES = 3

T = TypeVar("T")


def plan_wait(
    failure: Failure, *, tries: int, waited_s: float, left_s: float, jitter: float
) -> float | None:
    """Return how long to wait after the `tries`th failure, or None to give up.

    `jitter` is a random number from 0 to 1: callers that failed together must not come
    back together. A provider's own figure is obeyed, never undercut.
    """
    if not failure.may_pass:
        return None
    gone = tries >= OUTAGE_TRIES and waited_s >= OUTAGE_RETRY_S
    if failure.fault is Fault.UNAVAILABLE and gone:
        return None
    if failure.wait_s:
        wait_s = failure.wait_s + jitter
    else:
        step_s = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2.0 ** min(tries - 1, 10))
        wait_s = step_s * (0.5 + jitter / 2)
    return wait_s if wait_s < left_s else None


@dataclass(frozen=True)
class RetryPolicy:
    """Asks again while it may help.

    The clock's `sleep` may raise to end the wait; that passes through.
    """

    clock: Clock
    jitter: Callable[[], float]

    def ask(
        self,
        once: Callable[[float], T | Failure],
        deadline_at: float,
        watch: CallWatch | None = None,
    ) -> T | Failure:
        """Call `once` with the seconds left, until it succeeds or fails for good.

        `deadline_at` is a reading of the clock's monotonic counter; `watch` hears of
        each wait before it begins.
        """
        started_at = self.clock.monotonic()
        tries = 0
        while True:
            answer = once(deadline_at - self.clock.monotonic())
            if not isinstance(answer, Failure):
                return answer
            tries += 1
            now = self.clock.monotonic()
            wait_s = plan_wait(
                answer,
                tries=tries,
                waited_s=now - started_at,
                left_s=deadline_at - now,
                jitter=self.jitter(),
            )
            if wait_s is None:
                return answer
            if watch is not None:
                watch.waits(wait_s, answer.fault.value)
            self.clock.sleep(wait_s)
