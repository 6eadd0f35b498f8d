"""Wait for something outside this process, with a bound."""

import threading
import time
from collections.abc import Callable

from tests.provision.errors import ProvisionError

POLL_S = 0.05


def wait_until(is_true: Callable[[], bool], what: str, timeout_s: float) -> None:
    """Ask again and again until the answer is yes; `ProvisionError` when time is up."""
    never = threading.Event()
    deadline = time.monotonic() + timeout_s
    while not is_true():
        if time.monotonic() > deadline:
            raise ProvisionError(f"{what}: not within {timeout_s:g} seconds")
        never.wait(POLL_S)
