"""What of the kernel a bubblewrap sandbox is refused, and what of /usr it sees."""

import struct
from pathlib import Path

import pytest

from patchwright.core.runtime import SandboxSpec
from patchwright.sandbox.local.isolation import filter_program, show_system
from patchwright.sandbox.local.runtimes import BubblewrapRuntimes
from tests.adapters.sandbox.box import Box

CALL = """
import ctypes, errno, os, platform, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
NUMBERS = {
    "x86_64": dict(keyctl=250, bpf=321, perf=298, uffd=323, mount=165, unshare=272,
        setns=308, io_uring=425, clone3=435, fsopen=430, clone=56, kexec=246),
    "aarch64": dict(keyctl=219, bpf=280, perf=241, uffd=282, mount=40, unshare=97,
        setns=268, io_uring=425, clone3=435, fsopen=430, clone=220, kexec=104),
}[platform.machine()]
for name, number in NUMBERS.items():
    first = 0x10000011 if name in ("clone", "unshare") else 0
    result = libc.syscall(number, first, 0, 0, 0, 0)
    if name == "clone" and result == 0:
        os._exit(0)
    print(name, errno.errorcode.get(ctypes.get_errno()) if result < 0 else "open")
for family in (38, 40):
    try:
        socket.socket(family, socket.SOCK_STREAM).close()
        print(family, "open")
    except OSError as error:
        print(family, errno.errorcode[error.errno])
"""


def test_what_reaches_beyond_a_sandbox_is_refused(spec: SandboxSpec) -> None:
    runtime = BubblewrapRuntimes().start(spec)
    try:
        box = Box(runtime)
        said = box.sh("python3 -", stdin=CALL).output.splitlines()
        found = dict(line.split(" ") for line in said)
        assert found.pop("clone3") == "ENOSYS"
        assert len(found) == 13
        assert set(found.values()) == {"EPERM"}
        status = box.sh("grep Seccomp: /proc/self/status /proc/1/status").output
        assert status.count("\t2") == 2
        typing = "import fcntl; fcntl.ioctl(0, 0x5412, b'x')"
        assert "not permitted" in box.sh(f'python3 -c "{typing}"').output
        threads = "import threading as t; a = t.Thread(target=print, args=('ran',))"
        assert box.sh(f'python3 -c "{threads}; a.start()"').output == "ran\n"
    finally:
        runtime.close()


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_a_filter_is_a_program_that_the_kernel_takes(machine: str) -> None:
    program = filter_program(machine)
    steps = list(struct.iter_unpack("HBBI", program))
    assert 50 < len(steps) < 4096
    for at, (_, if_true, if_false, _) in enumerate(steps[:-1]):
        assert at + 1 + max(if_true, if_false) < len(steps)
    assert steps[-1][0] == 0x06


def test_a_machine_whose_calls_are_not_known_has_no_filter() -> None:
    assert filter_program("riscv64") == b""


def test_settings_of_this_machine_in_usr_are_hidden(
    tmp_path: Path, spec: SandboxSpec
) -> None:
    (tmp_path / "usr" / "local" / "etc").mkdir(parents=True)
    (tmp_path / "usr" / "var").symlink_to("/var")
    (tmp_path / "usr" / "pip.conf").touch()
    words = " ".join(show_system(tmp_path))
    assert "--tmpfs /usr/local/etc --remount-ro /usr/local/etc" in words
    assert "--ro-bind /dev/null /usr/pip.conf" in words
    assert "/usr/var" not in words
    runtime = BubblewrapRuntimes().start(spec)
    seen = Box(runtime).sh("ls -A /usr/local/etc /usr/etc 2>/dev/null | grep -v :")
    runtime.close()
    assert seen.output.strip() == ""
