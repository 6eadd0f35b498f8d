"""Large files of a local sandbox: they lie in a folder of this machine."""

import hashlib
import os
import platform
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import IO, Final

from patchwright.core.types.errors import SandboxError
from patchwright.sandbox.local.isolation import WORKSPACE

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
