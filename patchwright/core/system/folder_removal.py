"""Remove folders whose content somebody else made: of any depth, with any rights."""

import errno
import fcntl
import os
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Final

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OWNERS: Final = 0o700
# Marks that keep a name from being removed; root alone makes them, and takes them off.
# https://man7.org/linux/man-pages/man2/FS_IOC_GETFLAGS.2const.html
_GET_FLAGS: Final = 0x80086601
_SET_FLAGS: Final = 0x40086602
_IMMUTABLE_OR_APPEND_ONLY: Final = 0x30
_SHOWN: Final = 5


def remove_tree(path: Path) -> None:
    """Remove a folder; raise one `OSError` for all that could not be removed.

    Nothing is addressed by a path, which may be longer than the kernel takes, or lead
    through a symlink: each folder is opened in the one above it. And nothing is done
    by recursion: folders below the first level are moved up to it.
    """
    with _open_folder(path.name, _parent(path)) as root:
        kept = _empty(root)
    if kept:
        shown = ", ".join(map(repr, kept[:_SHOWN]))
        raise OSError(errno.ENOTEMPTY, f"{len(kept)} names were kept: {shown}", path)
    path.rmdir()


def _parent(path: Path) -> int:
    return os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _empty(root: int) -> list[str]:
    """Remove all in a folder, and return the names in it that had to stay."""
    kept: list[str] = []
    numbers = count()
    waiting = _names(root)
    while waiting:
        name = waiting.pop()
        try:
            waiting += _remove(root, name, numbers)
        except OSError:
            kept.append(name)
    return kept


def _remove(root: int, name: str, numbers: Iterator[int]) -> list[str]:
    """Remove a name, and return those that came into the root in its place."""
    if not _is_folder(root, name):
        _unlink(root, name)
        return []
    moved: list[str] = []
    with _open_folder(name, os.dup(root)) as folder:
        for inside in _names(folder):
            if _is_folder(folder, inside):
                moved += _lift(folder, inside, root, numbers)
            else:
                with suppress(OSError):
                    _unlink(folder, inside)
    try:
        os.rmdir(name, dir_fd=root)
    except PermissionError:
        _allow_removal(root, name)
        os.rmdir(name, dir_fd=root)
    except OSError:
        if not moved:
            raise
        # What could be lifted is done first; then this is tried again, for less.
        return [name, *moved]
    return moved


def _lift(folder: int, name: str, root: int, numbers: Iterator[int]) -> list[str]:
    """Move a folder into the root, under a name that nothing there has."""
    with suppress(OSError):
        # To be moved it has to be writable itself.
        _open_up(folder, name)
    while True:
        new = f".lifted-{next(numbers)}"
        if not _exists(root, new):
            break
    try:
        os.rename(name, new, src_dir_fd=folder, dst_dir_fd=root)
    except OSError:
        return []
    return [new]


@contextmanager
def _open_folder(name: str, parent: int) -> Iterator[int]:
    """Open a folder, which its maker may have closed to himself; takes `parent`."""
    try:
        with suppress(OSError):
            _open_up(parent, name)
        folder = os.open(name, _FOLDER, dir_fd=parent)
    finally:
        os.close(parent)
    try:
        _unmark(folder)
        yield folder
    finally:
        os.close(folder)


def _open_up(parent: int, name: str) -> None:
    """Give a folder's owner all rights to it; a link is never followed."""
    folder = os.open(name, os.O_PATH | _FOLDER, dir_fd=parent)
    try:
        if os.fstat(folder).st_mode & _OWNERS != _OWNERS:
            # Such a file can be changed by this name alone.
            Path(f"/proc/self/fd/{folder}").chmod(_OWNERS)
    finally:
        os.close(folder)


def _unlink(folder: int, name: str) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except PermissionError:
        _allow_removal(folder, name)
        os.unlink(name, dir_fd=folder)


def _allow_removal(folder: int, name: str) -> None:
    """Take the marks off a name that forbid its removal, where we may."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with suppress(OSError):
        file = os.open(name, flags, dir_fd=folder)
        try:
            _unmark(file)
        finally:
            os.close(file)


def _unmark(file: int) -> None:
    with suppress(OSError):
        [flags] = struct.unpack("i", fcntl.ioctl(file, _GET_FLAGS, bytes(4)))
        if flags & _IMMUTABLE_OR_APPEND_ONLY:
            kept = struct.pack("i", flags & ~_IMMUTABLE_OR_APPEND_ONLY)
            fcntl.ioctl(file, _SET_FLAGS, kept)


def _names(folder: int) -> list[str]:
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries]


def _is_folder(folder: int, name: str) -> bool:
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return stat.S_ISDIR(found.st_mode)


def _exists(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return False
    return True
