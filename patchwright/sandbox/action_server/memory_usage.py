"""Count the memory that the processes of a sandbox have, shared memory too."""

from __future__ import annotations

import os
import re

from patchwright.sandbox.action_server.disk_usage import held_files

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
SHARED_FILES = "/dev/shm"  # noqa: S108 - the sandbox's own
# Shares of what several processes have, each counted once; files can be read again.
# https://docs.kernel.org/filesystems/proc.html
_SHARE = re.compile(r"^(Pss_Anon|Pss_Shmem|SwapPss): +(\d+) kB$", re.MULTILINE)
_SEGMENT_ATTACHED, _SEGMENT_BYTES = 6, 14


def resident_bytes(pid: int) -> int:
    """Return what a process has in memory, whoever else has it too."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * PAGE_BYTES
    except (OSError, IndexError):
        return 0


def memory_used_by(pids: list[int], *, are_alone: bool) -> int:
    """Return the memory of all these.

    Where they are alone, what is kept for nobody in particular is theirs as well.
    """
    own = mapped = 0
    for pid in pids:
        shares = _shares(pid)
        own += shares["Pss_Anon"] + shares["SwapPss"]
        mapped += shares["Pss_Shmem"]
    # What is in a file of memory may be mapped too, and is one and the same then.
    if are_alone:
        return own + max(mapped, _in_files(pids)) + _in_segments()
    return own + max(mapped, memory_files(pids))


def estimate_memory_used_by(pids: list[int], *, are_alone: bool) -> int:
    """Return no less than that, at a small part of the price; no memory files."""
    resident = sum(map(resident_bytes, pids))
    if are_alone:
        return resident + _in_folder(SHARED_FILES) + _in_segments()
    return resident


def _shares(pid: int) -> dict[str, int]:
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
            found = dict(_SHARE.findall(file.read()))
    except OSError:
        # It has closed itself to us, or is gone.
        return {"Pss_Anon": resident_bytes(pid), "Pss_Shmem": 0, "SwapPss": 0}
    names = ("Pss_Anon", "Pss_Shmem", "SwapPss")
    return {name: int(found.get(name, 0)) << 10 for name in names}


def _in_files(pids: list[int]) -> int:
    return _in_folder(SHARED_FILES) + memory_files(pids)


def memory_files(pids: list[int]) -> int:
    """Return what is in files that have no name and no disk (`memfd_create`)."""
    sizes = {}
    for pid in pids:
        for found in held_files(pid):
            if os.major(found.st_dev) == 0 and found.st_dev != _device(SHARED_FILES):
                sizes[found.st_dev, found.st_ino] = found.st_blocks * 512
    return sum(sizes.values())


def _device(folder: str) -> int:
    try:
        return os.stat(folder).st_dev
    except OSError:
        return -1


def _in_folder(folder: str) -> int:
    try:
        found = os.statvfs(folder)
    except OSError:
        return 0
    return (found.f_blocks - found.f_bfree) * found.f_frsize


def _in_segments() -> int:
    """Return what is in shared memory of System V that no process has at hand."""
    try:
        with open("/proc/sysvipc/shm", encoding="ascii") as file:
            lines = [line.split() for line in file.read().splitlines()[1:]]
    except OSError:
        return 0
    free = (line for line in lines if line[_SEGMENT_ATTACHED] == "0")
    return sum(int(line[_SEGMENT_BYTES]) for line in free)
