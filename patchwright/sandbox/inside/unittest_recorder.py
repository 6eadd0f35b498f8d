"""Record how each test of `unittest` ends.

It is imported by every Python of a test command under the name `sitecustomize`. Each
line of the file is one JSON list: the verdict, the test's name and, where it did not
pass, why.

Standard library only, Python 3.8 and newer.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import traceback
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Protocol

VARIABLE = "PATCHWRIGHT_TEST_REPORT"
MODULE = "unittest.result"
VERDICTS = {
    "addSuccess": "passed",
    "addFailure": "failed",
    "addError": "failed",
    "addSkip": "skipped",
    "addExpectedFailure": "skipped",
    "addUnexpectedSuccess": "failed",
}
# They stand for a module and a fixture that broke: no test has run then.
NO_MODULE = "unittest.loader._FailedTest"
NO_FIXTURE = "unittest.suite._ErrorHolder"
MOST_CHARS = 300


class Test(Protocol):
    def id(self) -> str: ...


def record(path: str, verdict: str, test: Test, reason: object = None) -> None:
    kind = f"{type(test).__module__}.{type(test).__qualname__}"
    name = test.id()
    if kind == NO_MODULE:
        verdict, name = "unloaded", name[len(kind) + 1 :]
    elif kind == NO_FIXTURE:
        verdict = "broken"
    line = json.dumps([verdict, name, cause_of(reason)]) + "\n"
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(fd, line.encode())
    finally:
        os.close(fd)


def cause_of(reason: object) -> str:
    """Return an exception in one line, as "Type: message"; or why a test was left out.

    The loader's own error has in its last line which exception the module raised.
    """
    if isinstance(reason, str):
        return reason[:MOST_CHARS]
    if not isinstance(reason, tuple) or len(reason) != len(("type", "value", "trace")):
        return ""
    value = reason[1]
    if not isinstance(value, BaseException):
        return ""
    text = str(value).rstrip()
    if isinstance(value, ImportError) and text.startswith("Failed to import"):
        cause = text.splitlines()[-1]
    else:
        cause = traceback.format_exception_only(type(value), value)[-1]
    return " ".join(cause.split())[:MOST_CHARS]


def watch(result: type, path: str) -> None:
    """Wrap the methods that report a test to a result, so that they record it first."""

    def add(method: str, verdict: str) -> None:
        plain = getattr(result, method)

        def recording(self: object, test: Test, *rest: object) -> None:
            record(path, verdict, test, rest[0] if rest else None)
            plain(self, test, *rest)

        setattr(result, method, recording)

    for method, verdict in VERDICTS.items():
        add(method, verdict)
    plain_sub_test = result.addSubTest  # type: ignore[attr-defined]

    def add_sub_test(self: object, test: Test, subtest: Test, err: object) -> None:
        if err is not None:
            record(path, "failed", test, err)
        plain_sub_test(self, test, subtest, err)

    result.addSubTest = add_sub_test  # type: ignore[attr-defined]


class Watcher(MetaPathFinder):
    """Waits until `unittest` is imported, which most programs never do."""

    def __init__(self, path: str) -> None:
        self._path = path

    def find_spec(
        self,
        fullname: str,
        path: object,  # noqa: ARG002 - the protocol's
        target: object = None,  # noqa: ARG002 - the protocol's
    ) -> ModuleSpec | None:
        if fullname != MODULE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            plain = spec.loader.exec_module

            def execute(module: ModuleType) -> None:
                plain(module)
                watch(module.TestResult, self._path)

            spec.loader.exec_module = execute  # type: ignore[method-assign]
        return spec


def main() -> None:
    path = os.environ.get(VARIABLE)
    if path:
        sys.meta_path.insert(0, Watcher(path))


if __name__ == "sitecustomize":
    main()
