"""Wait for something outside this process, with a bound."""

import threading
import time
from collections.abc import Callable

from tests.provision.errors import ProvisionError

# What comes soon is seen soon; what takes long is not asked for all the time.
SHORTEST_POLL_S = 0.002
LONGEST_POLL_S = 0.05
POLL_SHARE = 0.1


def wait_until(is_true: Callable[[], bool], what: str, timeout_s: float) -> None:
    """Ask again and again until the answer is yes; `ProvisionError` when time is up."""
    never = threading.Event()
    began = time.monotonic()
    while not is_true():
        waited_s = time.monotonic() - began
        if waited_s > timeout_s:
            raise ProvisionError(f"{what}: not within {timeout_s:g} seconds")
        never.wait(min(max(SHORTEST_POLL_S, waited_s * POLL_SHARE), LONGEST_POLL_S))
