"""Each runs as a process: signals are the whole process's."""

import signal
import subprocess
import sys

# A busy machine takes a while to import what serves.
PATIENCE_S = 90

# The kernel hands the signal to another thread, so that nothing interrupts the wait.
MISSED = """
import os, signal, threading
from patchwright.core.system.signals import signal_handlers

told, never = [], threading.Lock()
never.acquire()

def tell(number, _frame):
    told.append(number)
    never.release()

def send():
    os.kill(os.getpid(), signal.SIGTERM)

helper = threading.Timer(0.2, send)
with signal_handlers({signal.SIGTERM: tell}):
    helper.start()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    never.acquire()
print(told)
"""
SWALLOWED = """
import signal, sys, threading
from patchwright.workers.serve import until_terminated

class Doomed:
    def __del__(self):
        signal.raise_signal(signal.SIGTERM)
        [None for _ in range(3)]

sys.unraisablehook = lambda told: print(told.exc_type.__name__)
with until_terminated():
    try:
        Doomed()
        threading.Event().wait()
    finally:
        # On the way out: nothing interrupts this.
        threading.Event().wait(0.5)
        print("closed")
"""


def run(program: str) -> list[str]:
    command = [sys.executable, "-c", program]
    ended = subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=PATIENCE_S
    )
    return ended.stdout.splitlines()


def test_a_signal_interrupts_a_wait_that_it_did_not_reach() -> None:
    assert run(MISSED) == [str([int(signal.SIGTERM)])]


def test_a_termination_is_not_lost_in_a_destructor() -> None:
    said = run(SWALLOWED)
    assert [line for line in said if "stopped" not in line] == ["_Terminated", "closed"]
