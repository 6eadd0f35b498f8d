"""Pack what a set-up has made in a sandbox, and unpack it in another; runs inside.

Standard library only, Python 3.8 and newer. Writes one JSON object to a file, which the
host reads: the list of files can be longer than the output of a command may be.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Iterator, NamedTuple

from patchwright.sandbox.inside.git_commands import (
    FOLDER,
    GITLINK,
    REPO,
    TransferError,
    files_of,
    git,
)

WORKSPACE = FOLDER.parent
PACKED = FOLDER / "set-up.tar"
ANSWER = FOLDER / "set-up.json"
BEFORE = FOLDER / "set-up-before.json"
TEMPORARY = Path("/tmp")  # noqa: S108 - the sandbox's own
# What each sandbox has of its own, and what is only a copy of something fetched.
OURS = frozenset(
    {".patchwright", "carry", "context", "logs", "home/.cache/pip", "home/.cache/uv"}
    | {"home/.npm/_cacache", "home/.npm/_logs", "home/.cache/yarn"}
)
LINK = b"120000"
# A shell that waits for a command of ours has this in its words.
_WAITING_SHELL = b"PATCHWRIGHT_INPUT"
_SHOWN = 3


class _FileState(NamedTuple):
    """What changes when somebody writes a file."""

    modified_ns: int
    size: int


def begin() -> dict[str, object]:
    """Note how the files of the repository are, so that `pack` sees what was read.

    A file that was read has a newer time of access than the one it gets here: with
    `relatime` too, if that is older than the time of the last change.
    """
    # The other time that this changes would have git read each file again.
    git("-C", REPO, "config", "core.trustctime", "false")
    before = {}
    for path in files_of("HEAD"):
        file = os.path.join(os.fsencode(REPO), path)
        found = os.lstat(file)
        if stat.S_ISREG(found.st_mode):
            os.utime(file, ns=(0, found.st_mtime_ns))
            before[os.fsdecode(path)] = _FileState(found.st_mtime_ns, found.st_size)
    config = (REPO / ".git" / "config").read_text(errors="surrogateescape")
    BEFORE.write_text(json.dumps({"files": before, "config": config}))
    return {}


def pack(max_bytes: int) -> dict[str, object]:
    """Pack everything that is new since `begin`; say which files were read for it.

    The answer has a `refused` reason where another sandbox could not be made the same
    by unpacking files.
    """
    noted = json.loads(BEFORE.read_text())
    BEFORE.unlink()
    before = {path: _FileState(*state) for path, state in noted["files"].items()}
    refused = _find_obstacle(before)
    if refused:
        return {"refused": refused}
    read = _find_read(before)
    config = (REPO / ".git" / "config").read_text(errors="surrogateescape")
    chosen = [*_new_files(frozenset(map(os.fsencode, before)))]
    chosen += _files_of_git(has_changed=config != noted["config"])
    size = sum(os.lstat(path).st_size for path in chosen)
    if size > max_bytes:
        return {"refused": f"it made {size >> 20} MiB of files, which is too much"}
    _write_archive(chosen)
    links = [path for path, one in files_of("HEAD").items() if one and one.mode == LINK]
    return {"read": [_printable(path) for path in (*read, *links)]}


def _find_obstacle(before: dict[str, _FileState]) -> str:
    changed = [path for path, state in before.items() if _state_of(path) != state]
    if changed:
        shown = ", ".join(sorted(changed)[:_SHOWN])
        return f"it changed files of the repository: {shown}"
    for path, one in files_of("HEAD").items():
        folder = os.path.join(os.fsencode(REPO), path)
        if one and one.mode == GITLINK and os.path.isdir(folder) and os.listdir(folder):
            return f"it filled a submodule: {_printable(path)}"
    running = [*_running_programs()]
    return f"it left programs running: {', '.join(running[:_SHOWN])}" if running else ""


def _state_of(path: str) -> _FileState | None:
    try:
        found = os.lstat(REPO / path)
    except OSError:
        return None
    return _FileState(found.st_mtime_ns, found.st_size)


def _find_read(before: dict[str, _FileState]) -> list[bytes]:
    """Return the files that were read: all of them where that cannot be told."""
    paths = [os.fsencode(path) for path in before]
    if not _shows_access():
        return paths
    root = os.fsencode(REPO)
    return [path for path in paths if os.lstat(os.path.join(root, path)).st_atime_ns]


def _shows_access() -> bool:
    """Tell whether the file system notes that a file was read."""
    probe = REPO / ".patchwright-probe"
    probe.write_bytes(b"x")
    try:
        os.utime(probe, ns=(0, probe.stat().st_mtime_ns))
        probe.read_bytes()
        return probe.stat().st_atime_ns != 0
    finally:
        probe.unlink()


def _running_programs() -> Iterator[str]:
    """Yield the names of programs that are neither ours nor a part of this one."""
    own = {1, *_ancestors(os.getpid())}
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) in own:
            continue
        try:
            words = Path(f"/proc/{name}/cmdline").read_bytes()
        except OSError:
            continue
        # One that has ended has no words.
        if words and _WAITING_SHELL not in words:
            yield os.path.basename(os.fsdecode(words.split(b"\0")[0]))


def _ancestors(pid: int) -> Iterator[int]:
    while pid > 1:
        yield pid
        try:
            fields = Path(f"/proc/{pid}/stat").read_text(errors="replace")
        except OSError:
            return
        pid = int(fields.rpartition(")")[2].split()[1])


def _new_files(tracked: frozenset[bytes]) -> Iterator[str]:
    """Yield what lies in the sandbox and not in the commit, folders before files."""
    links = {path for path, one in files_of("HEAD").items() if one and one.mode == LINK}
    known = {os.fsencode(REPO) + b"/" + path for path in (*tracked, *links)}
    passed_over = known | {os.path.dirname(path) for path in known}
    own = {str(REPO), str(WORKSPACE / "home")}
    skipped = {str(WORKSPACE / name) for name in OURS} | {str(REPO / ".git")}
    for root in (WORKSPACE, TEMPORARY):
        for folder, folders, names in os.walk(root):
            paths = [os.path.join(folder, name) for name in folders]
            paths = [path for path in paths if path not in skipped]
            folders[:] = [os.path.basename(path) for path in paths]
            for path in paths:
                if os.fsencode(path) not in passed_over and path not in own:
                    yield path
            for name in names:
                path = os.path.join(folder, name)
                mode = os.lstat(path).st_mode
                is_kept = stat.S_ISREG(mode) or stat.S_ISLNK(mode)
                if is_kept and os.fsencode(path) not in known:
                    yield path


def _files_of_git(*, has_changed: bool) -> Iterator[str]:
    """Yield what a set-up may have set in the repository: settings and hooks."""
    if has_changed:
        yield str(REPO / ".git" / "config")
    for folder, _, names in os.walk(REPO / ".git" / "hooks"):
        yield folder
        yield from (os.path.join(folder, name) for name in names)


def _write_archive(paths: list[str]) -> None:
    if _has_gnu_tar():
        names = b"\0".join(os.fsencode(path)[1:] for path in paths)
        create = ("--create", "--file", str(PACKED), "--directory", "/", "--null")
        _tar(*create, "--no-recursion", "--verbatim-files-from", "-T", "-", stdin=names)
        return
    with tarfile.open(PACKED, "w", format=tarfile.GNU_FORMAT) as archive:
        for path in paths:
            archive.add(path, recursive=False)


def unpack() -> dict[str, object]:
    """Put everything back to where it was in the other sandbox."""
    if _has_gnu_tar():
        extract = ("--extract", "--file", str(PACKED), "--directory", "/")
        _tar(*extract, "--preserve-permissions", "--delay-directory-restore")
    else:
        with tarfile.open(PACKED) as archive:
            # It is what another sandbox of this repository has packed.
            archive.extractall("/")  # noqa: S202 - into a sandbox, as its own user
    PACKED.unlink()
    return {}


def _has_gnu_tar() -> bool:
    """Tell whether there is the `tar` that is several times as fast as Python's."""
    if shutil.which("tar") is None:
        return False
    ran = subprocess.run(["tar", "--version"], capture_output=True, check=False)
    return b"GNU tar" in ran.stdout


def _tar(*words: str, stdin: bytes = b"") -> None:
    ran = subprocess.run(["tar", *words], input=stdin, capture_output=True, check=False)
    if ran.returncode != 0:
        text = ran.stderr.decode("utf-8", "replace").strip()[-500:]
        raise TransferError(f"tar failed in the sandbox: {text}")


def _printable(path: bytes) -> str:
    return path.decode("utf-8", "backslashreplace")


def main() -> None:
    order, *words = sys.argv[1:]
    try:
        if order == "begin":
            result = begin()
        elif order == "pack":
            result = pack(int(words[0]))
        else:
            result = unpack()
    except (TransferError, OSError, tarfile.TarError) as error:
        result = {"error": str(error)}
    ANSWER.write_text(json.dumps(result))
