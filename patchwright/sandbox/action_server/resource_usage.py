"""Measure the disk and the memory that a sandbox takes."""

from __future__ import annotations

import os
import re
import stat
from typing import Iterable, Iterator, NamedTuple

from patchwright.sandbox.action_server.processes import read_table

# Of `stat`, whatever the file system: https://man7.org/linux/man-pages/man3/stat.3type.html
BLOCK_BYTES = 512
# The kernel takes paths of 4095 bytes; from here on a folder is opened on its own.
LONG_PATH = 2000
MAX_OPEN = 200
# File systems that are in memory, or are a view of the kernel.
NO_DISK = frozenset(
    (
        *("tmpfs", "proc", "sysfs", "devtmpfs", "devpts", "mqueue", "cgroup"),
        *("cgroup2", "ramfs", "securityfs", "debugfs", "tracefs", "bpf"),
    )
)
_ESCAPED = re.compile(r"\\([0-7]{3})")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class DiskUsage(NamedTuple):
    disk_bytes: int
    files: int


class _Anchor:
    """An open folder that others are named by, closed after the last of them."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.users = 1

    def leave(self) -> bool:
        """Tell whether that was the last one."""
        self.users -= 1
        if not self.users:
            os.close(self.fd)
        return not self.users


class DiskMeasurement:
    """Goes through folders; `usage` is what was found so far.

    With `opens_up` also through those that their owner, the sandbox's user, has closed
    to himself; their modes are changed for that. Folders of `foreign` are passed over.
    """

    def __init__(
        self, roots: list[str], *, opens_up: bool, foreign: Iterable[str] = ()
    ) -> None:
        self.usage = DiskUsage(0, 0)
        self.is_too_deep = False
        self._opens_up = opens_up
        self._foreign = set(_identities(foreign))
        self._seen: set[tuple[int, int]] = set()
        self._waiting: list[tuple[_Anchor, str]] = []
        self._open = 0
        for root in roots:
            self._begin(root)

    def steps(self) -> Iterator[None]:
        """Measure one folder a step."""
        try:
            while self._waiting and not self.is_too_deep:
                anchor, path = self._waiting.pop()
                self._enter(anchor, path)
                self._leave(anchor)
                yield
        finally:
            for anchor, _ in self._waiting:
                anchor.leave()

    def add_held(self, pids: list[int]) -> None:
        """Add the files that have no name any more, but are open in a process."""
        for pid in pids:
            for found in held_files(pid):
                self._add(found)

    def _begin(self, root: str) -> None:
        try:
            self._waiting.append((_Anchor(os.open(root, _FOLDER)), "."))
        except OSError:
            # A single file may be mounted too, such as a container's /etc/hosts.
            return
        self._open += 1

    def _enter(self, anchor: _Anchor, path: str) -> None:
        try:
            fd = self._opened(anchor, path)
        except OSError:
            return
        inner = None
        if len(path) > LONG_PATH:
            inner, path = _Anchor(fd), "."
            self._open += 1
            self.is_too_deep = self._open > MAX_OPEN
        try:
            self._list(fd, inner or anchor, path)
        finally:
            if inner is None:
                os.close(fd)
            else:
                self._leave(inner)

    def _list(self, fd: int, anchor: _Anchor, path: str) -> None:
        with os.scandir(fd) as entries:
            for entry in entries:
                try:
                    found = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                if (found.st_dev, found.st_ino) in self._foreign:
                    continue
                self._add(found)
                if stat.S_ISDIR(found.st_mode):
                    anchor.users += 1
                    self._waiting.append((anchor, f"{path}/{entry.name}"))

    def _opened(self, anchor: _Anchor, path: str) -> int:
        try:
            return os.open(path, _FOLDER, dir_fd=anchor.fd)
        except PermissionError:
            if not self._opens_up:
                raise
            os.chmod(path, 0o700, dir_fd=anchor.fd)
            return os.open(path, _FOLDER, dir_fd=anchor.fd)

    def _leave(self, anchor: _Anchor) -> None:
        if anchor.leave():
            self._open -= 1

    def _add(self, found: os.stat_result) -> None:
        if found.st_nlink != 1 and not stat.S_ISDIR(found.st_mode):
            key = (found.st_dev, found.st_ino)
            if key in self._seen:
                return
            self._seen.add(key)
        size = found.st_blocks * BLOCK_BYTES
        self.usage = DiskUsage(self.usage.disk_bytes + size, self.usage.files + 1)


def _identities(folders: Iterable[str]) -> Iterator[tuple[int, int]]:
    for folder in folders:
        try:
            found = os.lstat(folder)
        except OSError:
            continue
        yield found.st_dev, found.st_ino


def held_files(pid: int) -> Iterator[os.stat_result]:
    """Yield the regular files that a process has open and that no folder names."""
    folder = f"/proc/{pid}/fd"
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        try:
            found = os.stat(f"{folder}/{name}")
        except OSError:
            continue
        if stat.S_ISREG(found.st_mode) and found.st_nlink == 0:
            yield found


class _Mount(NamedTuple):
    """A line of the kernel's table of mounts; `root` is its folder on the device."""

    device: str
    root: str
    path: str
    is_writable: bool
    is_on_disk: bool


def writable_folders(mountinfo: str) -> list[str]:
    """Return where what is mounted can be written, and is on a disk.

    What another of them contains is left out: the clone is seen in two places, for
    example.
    """
    mounts = [one for one in _read_mounts(mountinfo) if one.is_on_disk]
    writable = [one for one in mounts if one.is_writable]
    return [
        one.path
        for one in writable
        if not any(_contains(other, one) for other in writable)
    ]


def read_only_folders(mountinfo: str) -> list[str]:
    """Return where what is mounted cannot be written: it is not the sandbox's own."""
    return [one.path for one in _read_mounts(mountinfo) if not one.is_writable]


def _contains(outer: _Mount, inner: _Mount) -> bool:
    is_below = inner.root.startswith(outer.root.rstrip("/") + "/")
    return outer.device == inner.device and is_below


def _read_mounts(mountinfo: str) -> list[_Mount]:
    """Read the kernel's table.

    https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html
    """
    found = []
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        fields, kind = before.split(" "), after.split(" ")[0]
        root, path = (
            _ESCAPED.sub(lambda code: chr(int(code[1], 8)), field)
            for field in fields[3:5]
        )
        is_writable = "rw" in fields[5].split(",")
        found.append(_Mount(fields[2], root, path, is_writable, kind not in NO_DISK))
    return found


def file_system_usage(folder: str) -> DiskUsage:
    """Return what is taken of the whole file system that a folder is on."""
    found = os.statvfs(folder)
    taken = (found.f_blocks - found.f_bfree) * found.f_frsize
    return DiskUsage(taken, found.f_files - found.f_ffree)


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


PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
SHARED_FILES = "/dev/shm"  # noqa: S108 - the sandbox's own
# Shares of what several processes have, each counted once; files can be read again.
# https://docs.kernel.org/filesystems/proc.html
_SHARE = re.compile(r"^(Pss_Anon|Pss_Shmem|SwapPss): +(\d+) kB$", re.MULTILINE)
_SEGMENT_ATTACHED, _SEGMENT_BYTES = 6, 14


def resident_bytes(pid: int) -> int:
    """Return the memory of a process, including shared memory."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * PAGE_BYTES
    except (OSError, IndexError):
        return 0


def memory_used_by(pids: list[int], *, are_alone: bool) -> int:
    """Return the memory of all these.

    If no other process runs, shared memory that belongs to no process counts too.
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
    """Return the System V shared memory that no process has attached."""
    try:
        with open("/proc/sysvipc/shm", encoding="ascii") as file:
            lines = [line.split() for line in file.read().splitlines()[1:]]
    except OSError:
        return 0
    free = (line for line in lines if line[_SEGMENT_ATTACHED] == "0")
    return sum(int(line[_SEGMENT_BYTES]) for line in free)
