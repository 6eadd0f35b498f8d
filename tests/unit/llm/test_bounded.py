"""Waiting for a call ends in time, whatever the call does."""

import subprocess
import sys
import threading

import pytest

from patchwright.core.llm.transport import call_within


def test_what_the_call_returns_is_returned() -> None:
    assert call_within(5.0, lambda: "ok") == "ok"


def test_what_the_call_raises_is_raised() -> None:
    def fail() -> None:
        raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"):
        call_within(5.0, fail)


def test_a_call_that_takes_too_long_is_left_behind() -> None:
    release = threading.Event()
    with pytest.raises(TimeoutError):
        call_within(0.01, release.wait)
    release.set()


def test_a_call_left_behind_does_not_keep_the_process_alive() -> None:
    check = (
        "import threading\n"
        "from patchwright.core.llm.transport import call_within\n"
        "try:\n"
        "    call_within(0.01, threading.Event().wait)\n"
        "except TimeoutError:\n"
        "    print('left')\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", check],
        capture_output=True,
        text=True,
        timeout=20,
        check=True,
    )
    assert ended.stdout == "left\n"
