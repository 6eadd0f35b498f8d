"""Read the kernel's table of processes."""

from __future__ import annotations

import os
from typing import NamedTuple

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
