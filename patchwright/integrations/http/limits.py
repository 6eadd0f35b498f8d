"""Wait for the limits of a service, and read no more than a limit of bytes."""

from collections.abc import Callable, Iterable
from typing import Final, TypeVar

import structlog

from patchwright.core.system.clock import Clock
from patchwright.core.types.errors import InvalidRequestError, RateLimitedError

LONGEST_WAIT_S: Final = 90.0
# "Until" is in whole seconds, and the two clocks are not quite the same.
LEAST_WAIT_S: Final = 1.0

T = TypeVar("T")
log = structlog.get_logger(__name__)


def retry_after_limits(ask: Callable[[], T], clock: Clock) -> T:
    """Repeat what was refused for a limit, as long as all the waiting is short.

    Nothing was done then, so that a write may be repeated like a read.
    """
    budget_s = LONGEST_WAIT_S
    while True:
        try:
            return ask()
        except RateLimitedError as error:
            left_s = (error.until - clock.now()).total_seconds()
            wait_s = max(left_s, LEAST_WAIT_S)
            if wait_s > budget_s:
                raise
            log.info("waits_for_service", seconds=wait_s, reason=str(error))
            budget_s -= wait_s
            clock.sleep(wait_s)


CHUNK_BYTES: Final = 64 * 1024


def read_limited(chunks: Iterable[bytes], max_bytes: int) -> bytes:
    """Return it whole; what is larger raises `InvalidRequestError`.

    It is counted as it comes: the size that an answer names may be wrong.
    """
    data = bytearray()
    for chunk in chunks:
        data += chunk
        if len(data) > max_bytes:
            raise InvalidRequestError(f"it is larger than {max_bytes // 10**6} MB")
    return bytes(data)
