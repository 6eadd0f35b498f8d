"""Read the kernel's table of processes, and end a command with all of its own."""

from __future__ import annotations

import os
import signal
from typing import Callable, NamedTuple

from patchwright.sandbox.action_server.event_loop import EventLoop, Timer

TABLE_BYTES = 1 << 16


class Process(NamedTuple):
    """One line of the table; `born` is in clock ticks since boot."""

    pid: int
    name: str
    state: str
    parent: int
    session: int
    born: int


def list_pids() -> frozenset[int]:
    return frozenset(int(name) for name in os.listdir("/proc") if name.isdigit())


def list_processes() -> list[Process]:
    found = (read_process(pid) for pid in list_pids())
    return [process for process in found if process is not None]


def read_table(path: str) -> str:
    """Return what a file of the kernel says, in a third of the calls that `open` makes.

    Raises OSError.
    """
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts = iter(lambda: os.read(fd, TABLE_BYTES), b"")
        return b"".join(parts).decode("utf-8", "replace")
    finally:
        os.close(fd)


def read_process(pid: int) -> Process | None:
    """Return a process that lives, or None; a zombie does not.

    https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
    """
    try:
        line = read_table(f"/proc/{pid}/stat")
    except OSError:
        return None
    # The name stands in parentheses and may itself hold spaces and parentheses.
    start, end = line.index("("), line.rindex(")")
    fields = line[end + 2 :].split()
    if fields[0] in "ZX":
        return None
    return Process(
        pid=pid,
        name=line[start + 1 : end],
        state=fields[0],
        parent=int(fields[1]),
        session=int(fields[3]),
        born=int(fields[19]),
    )


def find_children(pid: int) -> list[Process]:
    try:
        pids = list(map(int, read_table(f"/proc/{pid}/task/{pid}/children").split()))
    except OSError:
        return []
    found = (read_process(child) for child in pids)
    return [process for process in found if process is not None]


def find_descendants(ancestor: int, processes: list[Process]) -> list[Process]:
    """Return the processes below `ancestor`, and those of its session."""
    below = {ancestor}
    found: list[Process] = []
    # A parent may stand after its child in the table, so look until nothing is new.
    while True:
        new = [
            process
            for process in processes
            if process.pid not in below
            and (process.parent in below or process.session == ancestor)
        ]
        if not new:
            return found
        found.extend(new)
        below.update(process.pid for process in new)


def send_signal(pid: int, number: int) -> None:
    """Send a signal, unless the process is gone by now."""
    try:
        os.kill(pid, number)
    except OSError:
        return


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
