"""What a bubblewrap sandbox sees of this machine and may ask of its kernel."""

import platform
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

USER = "1000"
ARCHIVE = "/opt/patchwright/server.pyz"
WORKSPACE = "/workspace"
# The folder of the repository in the workspace.
CLONE = "repo"

# Of /usr, where a machine's own settings and people's files may be, tokens with them.
HIDDEN_FOLDERS = (
    *("usr/etc", "usr/local/etc", "usr/home", "usr/local/home"),
    *("usr/local/src", "usr/var", "usr/local/var", "usr/tmp"),
)
HIDDEN_FILES = ("usr/pip.conf", "usr/local/pip.conf")
SYSTEM_FOLDERS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
# What programs need of /etc; nothing here may hold a secret of the machine.
SYSTEM_FILES = (
    "alternatives",
    "ca-certificates",
    "crypto-policies",
    "debian_version",
    "fonts",
    "java",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "magic",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "pki/ca-trust",
    "pki/tls/certs",
    "protocols",
    "services",
    "ssl/certs",
    "ssl/openssl.cnf",
    "timezone",
)
# What the machine's own tools have there instead of beside themselves; releases and
# processors are in the names. Settings in which people have passwords are not here.
SYSTEM_PATTERNS = (
    *("java-*/security", "java-*/jvm-*.cfg", "java-*/net.properties"),
    *("java-*/logging.properties", "maven/m2.conf", "maven/logging"),
    *("php/*/cli/conf.d", "php/*/mods-available"),
)
PASSWD = f"patchwright:x:{USER}:{USER}::{WORKSPACE}/home:/bin/bash\n".encode()
# Test runners open ports there under this name, and no one else answers for it.
HOSTS = b"127.0.0.1 localhost\n::1 localhost\n"
GROUP = f"patchwright:x:{USER}:\n".encode()


class DataFile(NamedTuple):
    """Bytes that appear in the sandbox as a read-only file."""

    path: str
    content: bytes


class Binding(NamedTuple):
    """A folder of this machine that appears in the sandbox."""

    source: Path
    path: str


def isolate() -> list[str]:
    """Return the options that separate a sandbox from the rest of the machine.

    The network is always its own: in the machine's, loopback and the abstract sockets
    of its services would be open. A proxy is the way out, where there is one.
    """
    namespaces = ("user", "pid", "ipc", "uts", "cgroup-try", "net")
    return [
        *(f"--unshare-{name}" for name in namespaces),
        *("--uid", USER, "--gid", USER, "--hostname", "sandbox"),
        *("--die-with-parent", "--new-session", "--as-pid-1"),
    ]


def show_system(root: Path) -> list[str]:
    """Return the options that show programs and libraries, read-only."""
    return [
        *("--ro-bind", str(root / "usr"), "/usr"),
        *_hidden(root),
        *_system_folders(root),
        *(
            word
            for name in (*SYSTEM_FILES, *_found_in_etc(root))
            for word in ("--ro-bind-try", str(root / "etc" / name), f"/etc/{name}")
        ),
        *("--proc", "/proc", "--dev", "/dev"),
    ]


def _found_in_etc(root: Path) -> Iterator[str]:
    etc = root / "etc"
    for pattern in SYSTEM_PATTERNS:
        for path in sorted(etc.glob(pattern)):
            yield str(path.relative_to(etc))


def bound_memory_files(memory_bytes: int) -> list[str]:
    """Return the options by which files in memory have a limit: /dev has none."""
    return [
        *("--size", str(memory_bytes // 2), "--perms", "1777", "--tmpfs", "/dev/shm"),  # noqa: S108 - the sandbox's own
        *("--remount-ro", "/dev"),
    ]


def show_own(
    data: Sequence[tuple[int, DataFile]],
    writable: Sequence[Binding],
    readable: Sequence[Binding] = (),
) -> list[str]:
    """Return the options for our own files; each `DataFile` has its open file."""
    words: list[str] = []
    for option, bindings in (("--bind", writable), ("--ro-bind", readable)):
        for binding in bindings:
            words += [option, str(binding.source), binding.path]
    for fd, file in data:
        words += ["--ro-bind-data", str(fd), file.path]
    return [*words, "--remount-ro", "/", "--chdir", "/"]


def _hidden(root: Path) -> Iterator[str]:
    for name in HIDDEN_FOLDERS:
        if (root / name).is_dir() and not (root / name).is_symlink():
            yield from ("--tmpfs", f"/{name}", "--remount-ro", f"/{name}")
    for name in HIDDEN_FILES:
        if (root / name).is_file():
            yield from ("--ro-bind", "/dev/null", f"/{name}")


def _system_folders(root: Path) -> Iterator[str]:
    for name in SYSTEM_FOLDERS:
        folder = root / name
        if folder.is_symlink():
            yield from ("--symlink", str(folder.readlink()), f"/{name}")
        elif folder.is_dir():
            yield from ("--ro-bind", str(folder), f"/{name}")


_EPERM, _ENOSYS = 1, 38
_ALLOW: Final = 0x7FFF0000
_ERRNO: Final = 0x00050000
# Offsets in `struct seccomp_data`; of an argument its lower half.
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06

_CLONE_NEW: Final = 0x7E020000
_IOCTLS: Final = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX: typing for somebody else
_FAMILIES: Final = (38, 40)  # AF_ALG, AF_VSOCK: the latter knows no namespaces
# Numbers by name; from 424 on they are the same everywhere.
# https://github.com/torvalds/linux/blob/master/arch/x86/entry/syscalls/syscall_64.tbl
_X86_64: Final = {
    "modules": (174, 175, 176, 177, 178, 313),
    "mounts": (155, 165, 166),
    "machine": (134, 139, 153, 156, 163, 164, 167, 168, 169, 170, 171, 172, 173, 179),
    "clocks": (159, 227, 305),
    "keys": (248, 249, 250),
    "kernel": (103, 180, 212, 246, 320, 298, 300, 304, 308, 312, 321, 323),
    "namespaces": (272,),
    "memory": (237, 238, 256, 279),
}
_AARCH64: Final = {
    "modules": (105, 106, 273),
    "mounts": (39, 40, 41),
    "machine": (42, 60, 89, 104, 142, 161, 162, 170, 224, 225, 294),
    "clocks": (112, 171, 266),
    "keys": (217, 218, 219),
    "kernel": (18, 116, 241, 262, 265, 268, 272, 280, 282),
    "namespaces": (97,),
    "memory": (235, 237, 238, 239),
}
# io_uring, and the newer ways to mount.
_EVERYWHERE: Final = (425, 426, 427, 428, 429, 430, 431, 432, 433, 442, 467)
_CLONE3: Final = 435


class _Machine(NamedTuple):
    architecture: int
    refused: frozenset[int]
    clone: int
    ioctl: int
    socket: int


def _machine(audit: int, table: dict[str, tuple[int, ...]], *calls: int) -> _Machine:
    refused = {number for numbers in table.values() for number in numbers}
    return _Machine(audit, frozenset({*refused, *_EVERYWHERE}), *calls)


_MACHINES: Final = {
    "x86_64": _machine(0xC000003E, _X86_64, 56, 16, 41),
    "aarch64": _machine(0xC00000B7, _AARCH64, 220, 29, 198),
}


def filter_program(machine: str = platform.machine()) -> bytes:
    """Return the filter for a machine, or nothing for one whose calls are not known."""
    known = _MACHINES.get(machine)
    return b"".join(_program(known)) if known else b""


def _program(machine: _Machine) -> Iterator[bytes]:
    yield _instruction(_LOAD, _ARCHITECTURE)
    # Calls of another architecture, as 32-bit programs make them, have other numbers.
    yield from _refuse_unless(_EQUAL, machine.architecture, _ENOSYS)
    yield _instruction(_LOAD, _NUMBER)
    # So have those of x32.
    yield from _refuse_if(_AT_LEAST, 0x40000000, _ENOSYS)
    # Its flags are in memory, where a filter sees nothing; then `clone` is used.
    yield from _refuse_if(_EQUAL, _CLONE3, _ENOSYS)
    for number in sorted(machine.refused):
        yield from _refuse_if(_EQUAL, number, _EPERM)
    yield from _refuse_argument(machine.clone, 0, _ANY_BIT, (_CLONE_NEW,))
    yield from _refuse_argument(machine.ioctl, 1, _EQUAL, _IOCTLS)
    yield from _refuse_argument(machine.socket, 0, _EQUAL, _FAMILIES)
    yield _instruction(_RETURN, _ALLOW)


def _refuse_argument(
    number: int, argument: int, test: int, values: tuple[int, ...]
) -> Iterator[bytes]:
    """Refuse a call for the values of one of its arguments."""
    inner = [_instruction(_LOAD, _FIRST_ARGUMENT + 8 * argument)]
    for value in values:
        inner += _refuse_if(test, value, _EPERM)
    inner.append(_instruction(_RETURN, _ALLOW))
    yield _instruction(_EQUAL, number, 0, len(inner))
    yield from inner


def _refuse_if(test: int, value: int, error: int) -> Iterator[bytes]:
    yield _instruction(test, value, 0, 1)
    yield _instruction(_RETURN, _ERRNO | error)


def _refuse_unless(test: int, value: int, error: int) -> Iterator[bytes]:
    yield _instruction(test, value, 1, 0)
    yield _instruction(_RETURN, _ERRNO | error)


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)
