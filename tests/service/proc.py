"""Look at processes from outside, through /proc."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
# Where `starttime` stands behind the name of the program, see proc_pid_stat(5).
START_TIME = 19


@dataclass(frozen=True)
class Seen:
    """A process. Numbers come again, but not together with the same start time."""

    pid: int
    born: int
    command: str

    @property
    def is_alive(self) -> bool:
        return look(self.pid) == self


def look(pid: int) -> Seen | None:
    """Return what runs under that number; one that nobody has buried counts not."""
    with suppress(OSError):
        fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
        words = (PROC / str(pid) / "cmdline").read_bytes().split(b"\0")
        if fields[0] != "Z":
            command = b" ".join(words).decode(errors="replace").strip()
            return Seen(pid, int(fields[START_TIME]), command)
    return None


def descendants(pid: int) -> list[Seen]:
    """Return the children, and theirs, as far down as they go."""
    found = [seen for child in _children(pid) if (seen := look(child))]
    return found + [deeper for seen in found for deeper in descendants(seen.pid)]


def resident_mb(pid: int) -> float:
    """Return the memory that the process holds, in megabytes of a million bytes."""
    lines = (PROC / str(pid) / "status").read_text().splitlines()
    [kib] = [line.split()[1] for line in lines if line.startswith("VmRSS:")]
    return int(kib) * 1024 / 1e6


def _children(pid: int) -> Iterator[int]:
    for task in (PROC / str(pid) / "task").glob("*"):
        with suppress(OSError):
            yield from map(int, (task / "children").read_text().split())
