"""End a command and all its processes, gently at first."""

from __future__ import annotations

import signal
from typing import Callable

from patchwright.sandbox.action_server.loop import EventLoop, Timer
from patchwright.sandbox.action_server.processes import (
    Process,
    find_descendants,
    list_processes,
    read_process,
    send_signal,
)

GRACE_S = 0.5
# When a person waits for the end: all three steps within half a second.
SHORT_GRACE_S = 0.12
STEPS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
# Beyond this a process hangs in the kernel, and no signal will end it.
MAX_STEPS = 8


class Termination:
    """Signals what belongs to a shell's command until all of it is gone.

    `older` processes were running before the command, and are spared. `grace_s` is the
    time between two steps.
    """

    def __init__(
        self,
        loop: EventLoop,
        shell_pid: int,
        older: frozenset[int],
        stopped: Callable[[], None],
        grace_s: float = GRACE_S,
    ) -> None:
        self._loop = loop
        self._shell_pid = shell_pid
        self._older = older
        self._stopped = stopped
        self._grace_s = grace_s
        self._known: dict[int, Process] = {}
        self._steps = 0
        self._timer: Timer | None = None
        self.shell_is_free = False

    def begin(self) -> None:
        self._loop.on_reap(self.check)
        self._step()

    def escalate(self) -> None:
        """Take the next step now, and those after it at short intervals."""
        self._grace_s = SHORT_GRACE_S
        if self._timer is not None:
            self._timer.cancel()
        self._step()

    def check(self) -> None:
        """Finish as soon as nothing is left."""
        if self._victims():
            return
        self._finish()

    def _step(self) -> None:
        victims = self._victims()
        if not victims or self._steps == MAX_STEPS:
            self._finish()
            return
        number = STEPS[min(self._steps, len(STEPS) - 1)]
        self._steps += 1
        for victim in victims:
            send_signal(victim.pid, number)
        self._timer = self._loop.after(self._grace_s, self._step)

    def _victims(self) -> list[Process]:
        found = find_descendants(self._shell_pid, list_processes())
        # A process whose parent died first is no descendant any more: remember it.
        for process in found:
            if process.pid not in self._older:
                self._known[process.pid] = process
        alive = [p for p in self._known.values() if _is_alive(p)]
        shell = read_process(self._shell_pid)
        if shell is None or self.shell_is_free:
            return alive
        # First, or it goes on with the next command of the line.
        return [shell, *alive]

    def _finish(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._loop.forget_reap(self.check)
        self._stopped()


def _is_alive(process: Process) -> bool:
    now = read_process(process.pid)
    return now is not None and now.born == process.born
