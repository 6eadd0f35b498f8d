"""Say how a test command ended: whether tests ran, and if none did, why."""

import re
from collections.abc import Sequence
from typing import Final

from patchwright.core.types.evidence import RunStatus
from patchwright.resolver.proof.runner_reports import RunnerReport
from patchwright.resolver.proof.runners import RunnerKind, status_by_exit_code


def status_of_run(
    runner: RunnerKind | None,
    exit_code: int | None,
    report: RunnerReport | None,
    output: str,
) -> RunStatus:
    """Return how a command ended; `runner` is None for one that calls none."""
    if exit_code is None:
        return RunStatus.TIMED_OUT
    if report is not None:
        return _status_of_report(report, exit_code)
    if runner is None:
        by_code = status_by_exit_code(RunnerKind.SCRIPT, exit_code)
        return by_code or RunStatus.UNREAD
    by_code = status_by_exit_code(runner, exit_code)
    if by_code is RunStatus.NO_RUNNER:
        return by_code
    # What is printed last tells most: the first lines may be those of a set-up.
    told = (
        status for status, signs in _SIGNS if _is_told(signs, output[-_MOST_CHARS:])
    )
    if exit_code == 0:  # then only that there was nothing to be run is no success
        none = _is_told(_NO_TESTS, output[-_MOST_CHARS:])
        return RunStatus.NO_TESTS if none else RunStatus.UNREAD
    return next(told, None) or by_code or RunStatus.UNREAD


def _status_of_report(report: RunnerReport, exit_code: int) -> RunStatus:
    found = report.results
    if found.passed or found.skipped or found.failed > report.unloaded:
        return RunStatus.RAN
    if report.unloaded:
        return RunStatus.COLLECTION_ERROR
    # A conftest.py that breaks, say, ends a run before any file is looked at.
    is_broken = status_by_exit_code(RunnerKind.PYTEST, exit_code) is (
        RunStatus.COLLECTION_ERROR
    )
    return RunStatus.COLLECTION_ERROR if is_broken else RunStatus.NO_TESTS


def _is_told(signs: Sequence[str], output: str) -> bool:
    return any(re.search(sign, output, re.MULTILINE) for sign in signs)


_MOST_CHARS: Final = 100_000
_NO_RUNNER: Final = (
    r"No module named '?(?:pytest|nose2|tox|nox|coverage|django)\b",
    r": (?:command )?not found$",
    r"^npm (?:ERR!|error) Missing script",
    r"^error: no such (?:sub)?command",
    r"could not determine executable to run",
    r"^bundler: command not found",
    r"Could not find (?:gem )?'?(?:rspec|minitest)",
    r"^Command \"\S+\" not found|ERR_PNPM_(?:NO_SCRIPT|RECURSIVE_EXEC_FIRST_FAIL)",
    r"^Could not open input file: \S*phpunit",
    r"make: \*\*\* No rule to make target",
    r"No plugin found for prefix|Unknown lifecycle phase",
    r"Task '\S+' not found in (?:root )?project",
)
_COLLECTION: Final = (
    r"while loading conftest|errors? during collection",
    r"^error(?:\[E\d+\])?: .*(?:\n.*){0,4}\n *--> |could not compile `",
    r"\[(?:build|setup) failed\]|cannot find (?:main )?module",
    r"COMPILATION ERROR|[Cc]ompilation failed|compile(?:Test)?(?:Java|Kotlin) FAILED",
    r"\berror TS\d+:|Test suite failed to run|Failed Suites \d+",
    r"^\w*Error(?: \[ERR_\w+\])?: (?:Cannot find|Unexpected|Invalid or unexpected)",
    r"error occurred while loading",
    r"^PHP (?:Fatal|Parse) error|^(?:Fatal|Parse) error: ",
    r"^CMake Error|\berror: .*\bundeclared|^\S+:\d+:\d+: (?:fatal )?error: ",
)
_NO_TESTS: Final = (
    r"\[no test files\]|no tests to run|no packages to test",
    r"^No tests? (?:files )?found|No test files found|No tests executed!",
    r"no tests ran|collected 0 items|not found: |file or directory not found",
    r"^Ran 0 tests|No tests were (?:found|executed)|NO TESTS RAN",
    r"^ *0 passing|^0 examples, 0 failures|^(?:# |\S )tests 0$",
    r"No tests (?:to run|found for given includes)",
)
_SIGNS: Final = (
    (RunStatus.NO_RUNNER, _NO_RUNNER),
    (RunStatus.COLLECTION_ERROR, _COLLECTION),
    (RunStatus.NO_TESTS, _NO_TESTS),
)
