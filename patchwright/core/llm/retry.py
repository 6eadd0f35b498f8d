"""When a failed model call is tried again, and what it waits for until then."""

from typing import Final

from patchwright.core.events.observations import ProviderWait, WaitCause
from patchwright.core.llm.failures import Failure, Fault
from patchwright.core.types.base import Value

FIRST_WAIT_S: Final = 1.0
LONGEST_WAIT_S: Final = 60.0


class RetryLimit(Value):
    """How often and how long a provider that does not answer is tried.

    It is given up after `most_tries` (0 is any number), and after `longest_s` if there
    were `least_tries`: a try can take minutes.
    """

    longest_s: float
    least_tries: int = 1
    most_tries: int = 0


# A provider's per-minute limit passes; a wrong address or a dead server does not.
OUTAGE: Final = RetryLimit(longest_s=180.0, least_tries=3)
# A refused connection takes no time: the waits between these tries take about 180 s.
UNREACHABLE: Final = RetryLimit(longest_s=300.0, least_tries=3, most_tries=10)
# Somebody sits there and waits, and has most likely a wrong address.
FIRST_CALL: Final = RetryLimit(longest_s=10.0, most_tries=5)


def plan_wait(
    failure: Failure,
    *,
    tries: int,
    waited_s: float,
    left_s: float,
    jitter: float,
    unreachable: RetryLimit = UNREACHABLE,
) -> float | None:
    """Return how long to wait after the `tries`th failure, or None to give up.

    `jitter` is a random number from 0 to 1: callers that failed together must not come
    back together. A provider's own figure is obeyed, never undercut.
    """
    if not failure.may_pass or _is_over(failure, tries, waited_s, unreachable):
        return None
    if failure.wait_s:
        wait_s = failure.wait_s + jitter
    else:
        step_s = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2.0 ** min(tries - 1, 10))
        wait_s = step_s * (0.5 + jitter / 2)
    return wait_s if wait_s < left_s else None


def _is_over(
    failure: Failure, tries: int, waited_s: float, unreachable: RetryLimit
) -> bool:
    limit = _limit_for(failure, unreachable)
    if limit is None:
        return False
    is_last = bool(limit.most_tries) and tries >= limit.most_tries
    return is_last or (tries >= limit.least_tries and waited_s >= limit.longest_s)


def _limit_for(failure: Failure, unreachable: RetryLimit) -> RetryLimit | None:
    """Return when to give up; a rate limit is waited for until the deadline."""
    if failure.fault is not Fault.UNAVAILABLE:
        return None
    return unreachable if failure.cause is WaitCause.UNREACHABLE else OUTAGE


def describe_wait(
    failure: Failure, seconds: float, *, tries: int, limit: RetryLimit = UNREACHABLE
) -> ProviderWait:
    """Return what the call waits for after its `tries`th try.

    `limit` is for a server that cannot be reached.
    """
    limit_now = _limit_for(failure, limit)
    is_reached = failure.cause is not WaitCause.UNREACHABLE
    code = f"{failure.status}" if failure.status else ""
    return ProviderWait(
        cause=failure.cause,
        seconds=seconds,
        # The words of a provider are not shown to people who only wait.
        detail=code if is_reached and code else failure.short_detail,
        next_try=tries + 1,
        most_tries=limit_now.most_tries if limit_now else 0,
    )
