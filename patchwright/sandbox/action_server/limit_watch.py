"""Hold a sandbox to its limits of disk and memory where the kernel does not."""

from __future__ import annotations

import os
import signal
import time
from typing import Callable, Iterator, NamedTuple

from patchwright.sandbox.action_server import hints, resource_usage
from patchwright.sandbox.action_server.event_loop import EventLoop
from patchwright.sandbox.action_server.processes import (
    find_descendants,
    list_processes,
    send_signal,
)
from patchwright.sandbox.action_server.protocol import Config
from patchwright.sandbox.action_server.resource_usage import (
    DiskMeasurement,
    DiskUsage,
    estimate_memory_used_by,
    file_system_usage,
    memory_files,
    memory_used_by,
    read_only_folders,
    resident_bytes,
    writable_folders,
)

MEMORY_EVERY_S = 0.1
DISK_EVERY_S = 0.25
# Looking takes at most this part of the server's time.
TIME_SHARE = 20
SLICE_S = 0.01
REST_FACTOR = 4
# What others do on the same disk is seen too: without need, all is measured this often.
MEASURE_EVERY_S = 30.0
FILES_EVERY_S = 1.0
# Files cost more than their bytes: one for so many bytes of the limit.
BYTES_A_FILE = 8192
# Programs over the limit may clean up; if they use even more, the sandbox ends.
MOST_KILLS = 5
MOST_ROUNDS = 20

Stop = Callable[[str], None]


def descendants() -> list[int]:
    """Return all that runs in the sandbox: orphans are the server's children too."""
    return [one.pid for one in find_descendants(os.getpid(), list_processes())]


class MemoryWatch:
    """Kills the largest processes while all together have more than the limit.

    `give_up` ends the sandbox where that does not help.
    """

    def __init__(
        self, loop: EventLoop, limit: int, give_up: Stop, *, are_alone: bool
    ) -> None:
        self._loop = loop
        self._limit = limit
        self._are_alone = are_alone
        self._give_up = give_up
        self._files_at = 0.0
        self._rounds = 0
        self._loop.after(MEMORY_EVERY_S, self._look)

    def _look(self) -> None:
        began = time.monotonic()
        pids = descendants()
        excess = 0
        if self._may_be_over(pids, began):
            excess = memory_used_by(pids, are_alone=self._are_alone) - self._limit
        self._rounds = self._rounds + 1 if excess > 0 else 0
        if self._rounds > MOST_ROUNDS:
            self._give_up(hints.memory_given_up(self._limit))
        if excess > 0:
            self._kill(pids, excess)
        took_s = time.monotonic() - began
        self._loop.after(max(MEMORY_EVERY_S, TIME_SHARE * took_s), self._look)

    def _may_be_over(self, pids: list[int], now: float) -> bool:
        quick = estimate_memory_used_by(pids, are_alone=self._are_alone)
        if quick > self._limit or now < self._files_at:
            return quick > self._limit
        self._files_at = now + FILES_EVERY_S
        return quick + memory_files(pids) > self._limit

    def _kill(self, pids: list[int], excess: int) -> None:
        sizes = {pid: resident_bytes(pid) + memory_files([pid]) for pid in pids}
        for pid in sorted(sizes, key=lambda pid: -sizes[pid]):
            send_signal(pid, signal.SIGKILL)
            resource_usage.note_memory_kill(pid)
            excess -= sizes[pid]
            if excess <= 0:
                return


class MeasuredFolders(NamedTuple):
    """The folders whose files count, and those below them whose files do not."""

    roots: list[str]
    foreign: list[str]


class DiskWatch:
    """Stops everything when the files have more than the limit.

    The disk is shared with others, so that what it has left says little; that it
    fills up says when to measure. `folders` are those to measure, and those in them
    that are not the sandbox's own.
    """

    def __init__(
        self,
        loop: EventLoop,
        limit: int,
        folders: MeasuredFolders,
        stop: Stop,
        give_up: Stop,
    ) -> None:
        self._loop = loop
        self._limit = DiskUsage(limit, limit // BYTES_A_FILE)
        self._stop = stop
        self._give_up = give_up
        self._kills = 0
        self._worst = DiskUsage(0, 0)
        # Between a stop and the next measurement, which tells what it was stopped at.
        self._is_settling = False
        self._roots, self._foreign = folders
        self._at_start = self._now()
        self._measured = DiskUsage(0, 0)
        self._measured_at = 0.0
        self._seen = self._at_start
        self._loop.after(DISK_EVERY_S, self._look)

    def _now(self) -> DiskUsage:
        """Return what is taken of the disks, ours and others' files alike."""
        found = {
            os.stat(root).st_dev: file_system_usage(root) for root in self._roots
        }.values()
        return DiskUsage(sum(a.disk_bytes for a in found), sum(a.files for a in found))

    def _look(self) -> None:
        now = self._now()
        if self._is_settling or self._is_worth_it(now):
            self._seen = now
            self._measure(now)
        else:
            self._loop.after(DISK_EVERY_S, self._look)

    def _is_worth_it(self, now: DiskUsage) -> bool:
        """Tell whether what came since could be half of what is left, or it is time."""
        for new, old, have, most in zip(now, self._seen, self._measured, self._limit):
            if new - old > max(most - have, most // 16) // 2:
                return True
        is_time = time.monotonic() > self._measured_at + MEASURE_EVERY_S
        return is_time and now != self._seen

    def _measure(self, now: DiskUsage) -> None:
        grown = any(
            new - old > most for new, old, most in zip(now, self._at_start, self._limit)
        )
        measuring = DiskMeasurement(self._roots, opens_up=grown, foreign=self._foreign)
        if grown:
            measuring.add_held(descendants())
        self._go_on(measuring, measuring.steps(), time.monotonic())

    def _go_on(
        self, measuring: DiskMeasurement, steps: Iterator[None], began: float
    ) -> None:
        until = time.monotonic() + SLICE_S
        for _ in steps:
            if time.monotonic() > until:
                self._loop.after(SLICE_S, lambda: self._go_on(measuring, steps, began))
                return
        self._judge(measuring)
        took_s = time.monotonic() - began
        self._measured, self._measured_at = measuring.usage, time.monotonic()
        self._loop.after(max(DISK_EVERY_S, REST_FACTOR * took_s), self._look)

    def _judge(self, measuring: DiskMeasurement) -> None:
        usage = measuring.usage
        is_over = measuring.is_too_deep or any(
            have > most for have, most in zip(usage, self._limit)
        )
        if not is_over:
            self._worst, self._is_settling = DiskUsage(0, 0), False
            return
        # After a stop all may be cleaned up, which takes some time and commands.
        is_more = any(have > worst for have, worst in zip(usage, self._worst))
        self._worst = DiskUsage(*map(max, usage, self._worst))
        if is_more and not self._is_settling:
            self._stop_all()
        else:
            self._is_settling = False

    def _stop_all(self) -> None:
        self._is_settling = True
        self._kills += 1
        if self._kills > MOST_KILLS:
            self._give_up(hints.disk_given_up(self._limit.disk_bytes))
        self._stop(hints.disk_full(self._limit.disk_bytes, self._limit.files))
        for pid in descendants():
            send_signal(pid, signal.SIGKILL)


def find_folders() -> MeasuredFolders:
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as file:
            mountinfo = file.read()
    except OSError:
        return MeasuredFolders([], [])
    return MeasuredFolders(writable_folders(mountinfo), read_only_folders(mountinfo))


def watch_limits(loop: EventLoop, config: Config, stop: Stop, give_up: Stop) -> None:
    """Watch over what the server has started and its files.

    Where it is process 1, all processes and all that can be written are its sandbox's.
    Elsewhere others are there too, and the files are those of the workspace.
    """
    is_alone = os.getpid() == 1
    if config.max_data_bytes:
        MemoryWatch(loop, config.max_data_bytes, give_up, are_alone=is_alone)
    if config.disk_bytes:
        own = MeasuredFolders([config.workspace], [])
        folders = find_folders() if is_alone else own
        DiskWatch(loop, config.disk_bytes, folders, stop, give_up)
