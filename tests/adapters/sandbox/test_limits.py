"""A sandbox has so much memory and so much of the disk, however it goes about it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from patchwright.core.runtime import RuntimeFactory, SandboxSpec
from patchwright.sandbox.local.runtimes import BubblewrapRuntimes, UnconfinedRuntimes
from tests.adapters.sandbox.box import Box

MIB = 1 << 20


@contextmanager
def small(factory: RuntimeFactory, spec: SandboxSpec, **limits: Any) -> Iterator[Box]:
    runtime = factory.start(spec.replace(**limits))
    try:
        yield Box(runtime)
    finally:
        runtime.close()


FILL = """
import os, sys
os.makedirs(sys.argv[1], exist_ok=True)
os.chdir(sys.argv[1])
for number in range(2000):
    with open(str(number), "wb") as file:
        file.write(b"x" * (1 << 20))
"""
# The way goes deeper than a path can say, through folders that are closed behind it.
HIDE = """
import os, signal
folders = []
for number in range(60):
    os.mkdir("n" * 250)
    folders.append(os.open("n" * 250, os.O_RDONLY))
    os.fchdir(folders[-1])
for number in range(2000):
    with open(str(number), "wb") as file:
        file.write(b"x" * (1 << 20))
    if number == 10:
        os.fchmod(folders[3], 0)
"""
HOLD = """
import os
held = []
for number in range(900):
    held.append(open("held", "wb", buffering=0))
    os.unlink("held")
    held[-1].write(b"x" * (2 << 20))
"""
MANY = """
import os
for number in range(400):
    os.mkdir(str(number))
    for inside in range(1000):
        open(f"{number}/{inside}", "w").close()
"""


@pytest.mark.parametrize("where", ["$HOME/a", "/workspace/repo/a", "/workspace/a"])
def test_m2_files_have_a_limit_wherever_they_are(
    factory: RuntimeFactory, spec: SandboxSpec, where: str
) -> None:
    with small(factory, spec, disk="96m") as box:
        full = box.sh(f"echo kept > kept; python3 - {where}", stdin=FILL, timeout_s=60)
        assert full.exit_code is None
        assert "disk limit of 96 MiB" in full.note
        taken = box.sh(f"du -sm {where} | cut -f1").output
        assert int(taken) < 1000
        assert box.sh(f"rm -r {where}; cat kept").output == "kept\n"
        assert box.sh("head -c 20M /dev/zero > fits; wc -c < fits").exit_code == 0


@pytest.mark.parametrize("program", [HIDE, HOLD, MANY])
def test_m2_no_way_of_hiding_files_gets_around_the_limit(
    factory: RuntimeFactory, spec: SandboxSpec, program: str
) -> None:
    with small(factory, spec, disk="64m") as box:
        full = box.sh("python3 -", stdin=program, timeout_s=60)
        assert full.exit_code is None, full
        assert "disk limit of 64 MiB" in full.note


def test_m2_the_hosts_tmp_and_one_large_file_are_held_too(spec: SandboxSpec) -> None:
    with small(BubblewrapRuntimes(), spec, disk="64m") as box:
        full = box.sh("python3 - /tmp/a", stdin=FILL, timeout_s=60)
        assert "disk limit of 64 MiB" in full.note
        one = box.sh("rm -r /tmp/a; head -c 200M /dev/zero > large; wc -c < large")
        assert int(one.output.split()[-1]) <= 64 * MIB


SHARED = """
import mmap, time
taken = mmap.mmap(-1, 900 << 20)
for at in range(0, len(taken), 4096):
    taken[at] = 1
time.sleep(3)
print("had it all", flush=True)
time.sleep(20)
"""
SEVERAL = """
import os, time
for _ in range(8):
    if os.fork() == 0:
        taken = b"x" * (130 << 20)
        time.sleep(3)
        os._exit(0)
killed = sum(os.wait()[1] == 9 for _ in range(8))
print(killed, "were killed")
"""
MEMORY_FILES = """
import os, time
files = [os.memfd_create(str(number)) for number in range(20)]
for file in files:
    for _ in range(50):
        os.write(file, b"x" * (1 << 20))
time.sleep(3)
print("had it all", flush=True)
"""


@pytest.mark.parametrize("program", [SHARED, SEVERAL, MEMORY_FILES])
def test_m3_the_memory_limit_is_for_the_whole_sandbox(
    factory: RuntimeFactory, spec: SandboxSpec, program: str
) -> None:
    with small(factory, spec, memory="256m") as box:
        box.runtime.upload("/workspace/eat.py", program.encode())
        ran = box.sh("python3 $WORKSPACE/eat.py; echo ended", timeout_s=15)
        if ran.still_running:
            ran = box.kill(ran)
        assert "memory limit of 256 MiB" in ran.note or factory.kind == "docker"
        pids = box.sh("cat /proc/[0-9]*/statm | awk '{s += $2} END {print s}'").output
        assert int(pids) * 4096 < 256 * MIB + 64 * MIB
        assert box.sh("echo alive").output == "alive\n"


@pytest.mark.parametrize("program", [SHARED, SEVERAL, MEMORY_FILES])
def test_m3_commands_without_a_sandbox_have_a_memory_limit_together(
    spec: SandboxSpec, program: str
) -> None:
    with small(UnconfinedRuntimes(), spec, memory="256m") as box:
        ran = box.sh("python3 -; echo ended", stdin=program, timeout_s=15)
        if ran.still_running:
            ran = box.kill(ran)
        assert "memory limit of 256 MiB" in ran.note
        assert "had it all" not in ran.output
        assert box.sh("echo alive").output == "alive\n"


@pytest.mark.parametrize("program", [HIDE, HOLD, MANY])
def test_m2_commands_without_a_sandbox_have_a_disk_limit(
    spec: SandboxSpec, program: str
) -> None:
    with small(UnconfinedRuntimes(), spec, disk="64m") as box:
        full = box.sh("python3 -", stdin=program, timeout_s=60)
        assert full.exit_code is None, full
        assert "disk limit of 64 MiB" in full.note


def test_m3_files_in_memory_have_a_limit(spec: SandboxSpec) -> None:
    with small(BubblewrapRuntimes(), spec, memory="256m") as box:
        full = box.sh("head -c 300M /dev/zero > /dev/shm/a; wc -c < /dev/shm/a")
        assert int(full.output.split()[-1]) <= 128 * MIB
        assert box.sh("touch /dev/a /dev/pts/a").exit_code != 0
