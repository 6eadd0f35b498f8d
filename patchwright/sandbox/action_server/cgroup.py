"""Ask the kernel how often the sandbox ran into its memory limit."""

from __future__ import annotations

import re

from patchwright.sandbox.action_server.processes import read_table

# https://docs.kernel.org/admin-guide/cgroup-v2.html (memory.events), and its old form
COUNTERS = (
    "/sys/fs/cgroup/memory.events",
    "/sys/fs/cgroup/memory/memory.oom_control",
)


# Those that we have killed where the kernel holds no sandbox to a limit.
_own_kills: list[int] = []


def note_memory_kill(pid: int) -> None:
    _own_kills.append(pid)


def count_memory_kills() -> int:
    """Return how many processes were killed so far, by the kernel and by us."""
    return _count_by_kernel() + len(_own_kills)


def _count_by_kernel() -> int:
    """Return what the kernel has counted; 0 where it does not."""
    for path in COUNTERS:
        try:
            found = re.search(r"^oom_kill (\d+)$", read_table(path), re.MULTILINE)
        except OSError:
            continue
        if found:
            return int(found.group(1))
    return 0
