"""Folders of local sandboxes, each held by the process that made it."""

import fcntl
import hashlib
import os
import platform
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import IO, Final

import structlog

from patchwright.core.system.folder_removal import remove_tree
from patchwright.core.types.errors import SandboxError
from patchwright.sandbox.local.isolation import WORKSPACE

PREFIX = "patchwright-sandbox-"
LOCK = "owner.lock"
RUN = "run"

log = structlog.get_logger()


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
        """The folder that the sandbox shares with its proxy, if it has one."""
        return self.path / "egress"

    def remove(self) -> bool:
        """Remove it, and tell whether nothing is left; a run must not fail for that.

        In any case the lock is released: what is left, the reaper comes for.
        """
        try:
            if self._lock_fd >= 0:
                self._remove_all()
        except OSError as error:
            log.warning("sandbox_not_removed", folder=str(self.path), reason=str(error))
            return False
        finally:
            self._release_lock()
        return True

    def _remove_all(self) -> None:
        # The lock goes last: without it nobody would come for the rest.
        for inside in (self.workspace, self.tmp, self.egress):
            if inside.exists():
                remove_tree(inside)
        remove_tree(self.path)

    def _release_lock(self) -> None:
        if self._lock_fd >= 0:
            os.close(self._lock_fd)
            self._lock_fd = -1


def create_folder(run_id: str, user: int | None) -> SandboxFolder:
    """Make the folder of a new sandbox; `user` owns what the sandbox may write."""
    path = Path(tempfile.mkdtemp(prefix=PREFIX))
    # It is held before it has its name: who looks for abandoned folders would take it.
    unnamed = path / f"{LOCK}.new"
    lock_fd = os.open(unnamed, os.O_CREAT | os.O_RDWR, 0o600)
    folder = SandboxFolder(path, lock_fd)
    with ExitStack() as undo:
        undo.callback(folder.remove)
        fcntl.flock(lock_fd, fcntl.LOCK_EX)
        unnamed.rename(path / LOCK)
        (path / RUN).write_text(run_id)
        _fill(folder, user)
        undo.pop_all()
    return folder


def _fill(folder: SandboxFolder, user: int | None) -> None:
    for inside in (folder.workspace, folder.tmp, folder.egress):
        inside.mkdir(mode=0o700)
        if user is not None:
            os.chown(inside, user, user)
    if user is not None:
        folder.path.chmod(0o711)


def find_abandoned(run_id: str | None = None) -> Iterator[SandboxFolder]:
    """Yield the folders of a run, or of all runs, whose owner is gone.

    Each is held until it is removed. Other users of this machine can make folders of
    such names too: theirs are passed over.
    """
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        if not _is_ours(path):
            continue
        if run_id is not None and _run_of(path) != run_id:
            continue
        lock_fd = _take_lock(path)
        if lock_fd is not None:
            yield SandboxFolder(path, lock_fd)


def _is_ours(path: Path) -> bool:
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()


def _run_of(path: Path) -> str:
    with suppress(OSError, UnicodeDecodeError):
        return (path / RUN).read_text()
    return ""


def _take_lock(path: Path) -> int | None:
    try:
        lock_fd = os.open(path / LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock_fd)
        return None
    return lock_fd


_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# A package that is installed or updated changes one of these.
_PROGRAMS: Final = ("/usr/bin", "/usr/local/bin", "/usr/lib", "/usr/local/lib")


class FolderFiles:
    """See `core.runtime.LargeFiles`.

    Programs in the sandbox can put links anywhere: none is followed, in no folder.
    """

    def __init__(self, workspace: Path, user: int | None) -> None:
        self._workspace, self._user = workspace, user

    @cached_property
    def origin(self) -> str:
        """The system of this machine and its installed programs."""
        release = Path("/etc/os-release")
        facts = [platform.machine(), platform.release()]
        facts.append(release.read_text("utf-8") if release.exists() else "")
        facts += [
            f"{folder}:{folder.stat().st_mtime_ns}"
            for folder in map(Path, _PROGRAMS)
            if folder.is_dir()
        ]
        return hashlib.sha256("\n".join(facts).encode()).hexdigest()

    def copy_out(self, path: str, target: IO[bytes], max_bytes: int) -> None:
        with self._open_parent(path) as (folder, name):
            source = os.open(
                name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder
            )
        with os.fdopen(source, "rb") as file:
            found = os.fstat(source)
            if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
                raise SandboxError(f"{path} in the sandbox is not a plain file")
            if found.st_size > max_bytes:
                text = f"{path} has {found.st_size} bytes; at most {max_bytes} are"
                raise SandboxError(f"{text} allowed")
            shutil.copyfileobj(file, target, 1 << 20)

    def copy_in(self, source: IO[bytes], path: str) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with self._open_parent(path) as (folder, name):
            target = os.open(name, flags, 0o600, dir_fd=folder)
        with os.fdopen(target, "wb") as file:
            if self._user is not None:
                os.fchown(target, self._user, self._user)
            shutil.copyfileobj(source, file, 1 << 20)

    @contextmanager
    def _open_parent(self, path: str) -> Iterator[tuple[int, str]]:
        """Open the folder of a file, one step after the other."""
        *folders, name = PurePosixPath(path).relative_to(WORKSPACE).parts
        try:
            folder = os.open(self._workspace, _FOLDER)
            for step in folders:
                inner = os.open(step, _FOLDER, dir_fd=folder)
                os.close(folder)
                folder = inner
        except OSError as error:
            raise SandboxError(f"{path} in the sandbox: {error}") from error
        try:
            yield folder, name
        except OSError as error:
            raise SandboxError(f"{path} in the sandbox: {error}") from error
        finally:
            os.close(folder)
