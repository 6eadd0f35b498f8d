"""Folders of local sandboxes, each held by the process that made it."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PREFIX = "patchwright-sandbox-"
LOCK = "owner.lock"
RUN = "run"


class SandboxFolder:
    """The folder of one sandbox: `workspace`, `tmp`, and the mark of its owner.

    The lock is the kernel's: it goes with the process, however that ends.
    """

    def __init__(self, path: Path, lock_fd: int) -> None:
        self.path = path
        self._lock_fd = lock_fd

    @property
    def workspace(self) -> Path:
        return self.path / "workspace"

    @property
    def tmp(self) -> Path:
        return self.path / "tmp"

    @property
    def egress(self) -> Path:
        """Where the sandbox meets its proxy, if it has one."""
        return self.path / "egress"

    def remove(self) -> None:
        remove_tree(self.path)
        if self._lock_fd >= 0:
            os.close(self._lock_fd)
            self._lock_fd = -1


def create_folder(run_id: str, user: int | None) -> SandboxFolder:
    """Make the folder of a new sandbox; `user` owns what the sandbox may write."""
    path = Path(tempfile.mkdtemp(prefix=PREFIX))
    lock_fd = os.open(path / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(lock_fd, fcntl.LOCK_EX)
    (path / RUN).write_text(run_id)
    folder = SandboxFolder(path, lock_fd)
    for inside in (folder.workspace, folder.tmp, folder.egress):
        inside.mkdir(mode=0o700)
        if user is not None:
            os.chown(inside, user, user)
    if user is not None:
        path.chmod(0o711)
    return folder


def find_abandoned(run_id: str | None = None) -> Iterator[SandboxFolder]:
    """Yield the folders of a run, or of all runs, whose owner is gone."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        if run_id is not None and _run_of(path) != run_id:
            continue
        lock_fd = _take_lock(path)
        if lock_fd is not None:
            yield SandboxFolder(path, lock_fd)


def remove_tree(path: Path) -> None:
    """Remove a folder, also with folders in it that forbid it to their owner."""
    for parent, folders, _ in os.walk(path):
        for name in folders:
            folder = Path(parent, name)
            if not folder.is_symlink():
                folder.chmod(0o700)
    shutil.rmtree(path, ignore_errors=True)


def _run_of(path: Path) -> str:
    with suppress(OSError):
        return (path / RUN).read_text()
    return ""


def _take_lock(path: Path) -> int | None:
    try:
        lock_fd = os.open(path / LOCK, os.O_RDWR)
    except OSError:
        return None
    try:
        fcntl.flock(lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock_fd)
        return None
    return lock_fd
