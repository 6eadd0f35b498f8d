"""How a test command ended, by its exit code, its report and what it printed."""

import pytest

from patchwright.core.types.evidence import RunStatus
from patchwright.resolver.proof.run_status import status_of_run
from patchwright.resolver.proof.runner_reports import TestRecord, count_records
from patchwright.resolver.proof.runners import RunnerKind


@pytest.mark.parametrize(
    ("runner", "code", "output", "status"),
    [
        (RunnerKind.PYTEST, None, "", RunStatus.TIMED_OUT),
        (None, None, "", RunStatus.TIMED_OUT),
        (None, 127, "", RunStatus.NO_RUNNER),
        (None, 1, "no tests ran", RunStatus.UNREAD),
        (RunnerKind.PYTEST, 127, "bash: pytest: not found", RunStatus.NO_RUNNER),
        (RunnerKind.PYTEST, 1, "python3: No module named pytest", RunStatus.NO_RUNNER),
        (RunnerKind.PYTEST, 5, "", RunStatus.NO_TESTS),
        (RunnerKind.PYTEST, 4, "ERROR: not found: a.py::b", RunStatus.NO_TESTS),
        (
            RunnerKind.PYTEST,
            4,
            "ImportError while loading conftest '/a/conftest.py'.",
            RunStatus.COLLECTION_ERROR,
        ),
        (RunnerKind.PYTEST, 0, "", RunStatus.UNREAD),
        (RunnerKind.SCRIPT, 1, 'npm error Missing script: "x"', RunStatus.NO_RUNNER),
        (RunnerKind.GO, 0, "?   \ta/b\t[no test files]", RunStatus.NO_TESTS),
        (
            RunnerKind.CARGO,
            101,
            "error[E0425]: cannot find value\n --> src/lib.rs:1:5\n",
            RunStatus.COLLECTION_ERROR,
        ),
        (
            RunnerKind.MAVEN,
            1,
            "COMPILATION ERROR :",
            RunStatus.COLLECTION_ERROR,
        ),
        (
            RunnerKind.GRADLE,
            1,
            ":compileJava FAILED",
            RunStatus.COLLECTION_ERROR,
        ),
        (RunnerKind.JEST, 1, "No tests found, exiting with code 1", RunStatus.NO_TESTS),
        (RunnerKind.CTEST, 0, "No tests were found!!!", RunStatus.NO_TESTS),
        (RunnerKind.PHPUNIT, 255, "Killed", RunStatus.UNREAD),
    ],
)
def test_a_command_without_a_report_says_why_no_test_ran(
    runner: RunnerKind | None, code: int | None, output: str, status: RunStatus
) -> None:
    assert status_of_run(runner, code, None, output) is status


@pytest.mark.parametrize(
    ("records", "code", "status"),
    [
        ([TestRecord("failed", "a")], 1, RunStatus.RAN),
        ([TestRecord("skipped", "a")], 0, RunStatus.RAN),
        ([TestRecord("broken", "a")], 1, RunStatus.RAN),
        ([TestRecord("unloaded", "a.py")], 2, RunStatus.COLLECTION_ERROR),
        ([TestRecord("unloaded", "a.py"), TestRecord("passed", "b")], 1, RunStatus.RAN),
        ([], 2, RunStatus.COLLECTION_ERROR),
        ([], 5, RunStatus.NO_TESTS),
        ([TestRecord("failed", "a")], None, RunStatus.TIMED_OUT),
    ],
)
def test_a_report_says_whether_tests_ran(
    records: list[TestRecord], code: int | None, status: RunStatus
) -> None:
    report = count_records(RunnerKind.PYTEST, records)
    assert status_of_run(RunnerKind.PYTEST, code, report, "") is status
