"""Check the folder of the service's own files: room, rights, privacy."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from patchwright.workers.compose import KEY_FILE, SESSION_FILE
from patchwright.workers.doctor.case import CheckContext
from patchwright.workers.doctor.finding import CheckResult, combine, failed, ok, warning

_GIB: Final = 1 << 30
# Copies of repositories are made here, and a run's log grows by megabytes.
_LITTLE_SPACE: Final = 2 * _GIB
_NO_SPACE: Final = _GIB // 4
_OTHER_USERS: Final = stat.S_IRWXG | stat.S_IRWXO


def check_state(context: CheckContext) -> CheckResult:
    folder = context.settings.state_dir
    there = next(one for one in (folder, *folder.parents) if one.exists())
    if there != folder:
        return combine((_missing_folder(folder, there), judge_space(_free_bytes(there), there)))
    files = (folder / name for name in (KEY_FILE, SESSION_FILE))
    return combine(
        (
            _writable(folder),
            *_unprotected_files(one for one in files if one.exists()),
            judge_space(_free_bytes(folder), folder),
        )
    )


def judge_space(free: int, folder: Path) -> CheckResult:
    """Judge by the bytes that are free."""
    words = f"{free / _GIB:.1f} GiB free"
    fix = f"make room on the disk of {folder}, or set state_dir to a larger one"
    if free < _NO_SPACE:
        return failed(words, fix)
    return warning(words, fix) if free < _LITTLE_SPACE else ok(words)


def _free_bytes(folder: Path) -> int:
    return shutil.disk_usage(folder).free


def _missing_folder(folder: Path, parent: Path) -> CheckResult:
    if os.access(parent, os.W_OK | os.X_OK):
        return ok(f"{folder} will be made")
    return failed(
        f"{folder} is not there, and {parent} cannot be written",
        f"make it, or set state_dir: install -d -m 700 -o $USER {folder}",
    )


def _writable(folder: Path) -> CheckResult:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return ok(f"{folder} can be written")
    except OSError as error:
        return failed(
            f"{folder} cannot be written: {error.strerror}",
            f"give it to the user that runs the service: chown -R $USER {folder}",
        )


def _unprotected_files(files: Iterator[Path]) -> Iterator[CheckResult]:
    for file in files:
        seen = file.stat()
        if seen.st_mode & _OTHER_USERS:
            yield failed(f"{file} can be read by others", f"chmod 600 {file}")
        elif not os.access(file, os.R_OK):
            yield failed(
                f"{file} cannot be read by this user",
                f"run as the user of the service, or chown $USER {file}",
            )
