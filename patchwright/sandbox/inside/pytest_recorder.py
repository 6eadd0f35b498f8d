"""Record how each test of `pytest` ends.

It is a plug-in of pytest, found by its entry point. Each line of the file is one JSON
list: the verdict, the test's name and, where it did not pass, why. `begin` and `end`
frame what one process has run.

Standard library only, Python 3.8 and newer, pytest 3.6 and newer.
"""

from __future__ import annotations

import json
import os
import re
from typing import Protocol

VARIABLE = "PATCHWRIGHT_PYTEST_REPORT"
# The folder to which the files of tests are named relative.
ROOT_VARIABLE = "PATCHWRIGHT_TEST_ROOT"
# By which name the plug-in is installed, and how pytest finds it.
MODULE = "patchwright_pytest"
ENTRY_POINTS = f"[pytest11]\npatchwright = {MODULE}\n"
METADATA = "Metadata-Version: 2.1\nName: patchwright-recorder\nVersion: 1\n"
MOST_CHARS = 300


class Report(Protocol):
    """What pytest says of a test, or of a file that it has collected."""

    nodeid: str
    when: str
    outcome: str
    failed: bool
    skipped: bool
    longrepr: object


class Plugins(Protocol):
    def register(self, plugin: object, name: str) -> object: ...


class PytestConfig(Protocol):
    """`rootdir` is what pytest names files relative to; of old releases a `py.path`."""

    pluginmanager: Plugins
    rootdir: object


class PytestRecorder:
    """Writes what pytest reports; `folder` is what pytest names files relative to."""

    def __init__(self, path: str, root: str, folder: str) -> None:
        self._path, self._root, self._folder = path, root, folder

    def pytest_sessionstart(self) -> None:
        self._write("begin", str(os.getpid()))

    def pytest_sessionfinish(self) -> None:
        self._write("end", str(os.getpid()))

    def pytest_collectreport(self, report: Report) -> None:
        if report.failed:
            self._write("unloaded", self._name(report.nodeid), cause_of(report))

    def pytest_runtest_logreport(self, report: Report) -> None:
        if report.when == "call" or report.skipped:
            verdict = report.outcome
        elif report.failed:
            verdict = "broken"
        else:
            return
        cause = "" if verdict == "passed" else cause_of(report)
        self._write(verdict, self._name(report.nodeid), cause)

    def _name(self, nodeid: str) -> str:
        """Name the file relative to the repository, wherever pytest was started."""
        file, separator, rest = nodeid.partition("::")
        path = os.path.relpath(os.path.join(self._folder, file), self._root)
        return path.replace(os.sep, "/") + separator + rest

    def _write(self, verdict: str, name: str, cause: str = "") -> None:
        line = json.dumps([verdict, name, cause]) + "\n"
        fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(fd, line.encode())
        finally:
            os.close(fd)


def cause_of(report: Report) -> str:
    """Return the exception in one line, as "Type: message"."""
    told = report.longrepr
    crash = getattr(told, "reprcrash", None)
    if crash is not None:
        cause = str(getattr(crash, "message", ""))
    elif isinstance(told, tuple):  # of a skipped test
        cause = str(told[-1])
    else:
        raised = re.findall(r"^E {3}(\S.*)$", str(told), re.MULTILINE)
        cause = raised[-1] if raised else str(told)
    if cause.startswith("assert "):  # pytest leaves the type out
        cause = "AssertionError: " + cause
    return " ".join(cause.split())[:MOST_CHARS]


def pytest_configure(config: PytestConfig) -> None:
    # What a test starts itself is no part of this report, nor are xdist's workers.
    path = os.environ.pop(VARIABLE, None)
    if path and not hasattr(config, "workerinput"):
        folder = str(getattr(config, "rootpath", "") or config.rootdir)
        root = os.environ.get(ROOT_VARIABLE) or folder
        recorder = PytestRecorder(path, root, folder)
        config.pluginmanager.register(recorder, "patchwright-recorder")
