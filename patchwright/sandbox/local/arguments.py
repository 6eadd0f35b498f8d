"""Which part of this machine a bubblewrap sandbox sees; pure decisions."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

USER = "1000"
ARCHIVE = "/opt/patchwright/server.pyz"
WORKSPACE = "/workspace"

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
PASSWD = f"patchwright:x:{USER}:{USER}::{WORKSPACE}/home:/bin/bash\n".encode()
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
            for name in SYSTEM_FILES
            for word in ("--ro-bind-try", str(root / "etc" / name), f"/etc/{name}")
        ),
        *("--proc", "/proc", "--dev", "/dev"),
    ]


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
    """Return the options for our own files; each `Data` comes with its open file."""
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
