"""Name the test runners, and what their exit codes mean."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from patchwright.core.types.evidence import RunStatus


class RunnerKind(StrEnum):
    PYTEST = "pytest"
    UNITTEST = "unittest"
    NODE = "node --test"
    JEST = "jest"
    VITEST = "vitest"
    MOCHA = "mocha"
    GO = "go test"
    CARGO = "cargo test"
    RSPEC = "rspec"
    MINITEST = "minitest"
    PHPUNIT = "phpunit"
    DOTNET = "dotnet test"
    MAVEN = "maven"
    GRADLE = "gradle"
    CTEST = "ctest"
    PROVE = "prove"
    SCRIPT = "the repository's own script"


_ANY_FAILURE: Final = range(1, 126)
# With which exit codes a runner says that tests ran and failed; others mean that they
# could not be run. https://docs.pytest.org/en/stable/reference/exit-codes.html
_FAILED: Final[dict[RunnerKind, Sequence[int]]] = {
    RunnerKind.PYTEST: (1,),
    RunnerKind.UNITTEST: (1,),
    RunnerKind.NODE: (1,),
    RunnerKind.JEST: (1,),
    RunnerKind.VITEST: (1,),
    RunnerKind.MOCHA: _ANY_FAILURE,  # how many have failed
    RunnerKind.GO: (1, 2),  # 2: a package of several cannot be built
    RunnerKind.CARGO: (101,),
    RunnerKind.RSPEC: (1,),
    RunnerKind.MINITEST: (1,),
    RunnerKind.PHPUNIT: (1, 2),
    RunnerKind.DOTNET: (1,),
    RunnerKind.MAVEN: (1,),
    RunnerKind.GRADLE: (1,),
    RunnerKind.CTEST: (8,),
    RunnerKind.PROVE: _ANY_FAILURE,  # how many have failed
    RunnerKind.SCRIPT: _ANY_FAILURE,
}


def says_failed(runner: RunnerKind, exit_code: int | None) -> bool:
    """Tell whether the exit code is that of tests which ran and failed."""
    return exit_code in _FAILED[runner]


# What a shell answers when it cannot run a command at all: no check has failed then.
# https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html#tag_19_08_02
NO_PROGRAM: Final = (126, 127)
# Exit codes of runners that say why no test has run.
_STATUSES: Final[dict[tuple[RunnerKind, int], RunStatus]] = {
    (RunnerKind.PYTEST, 2): RunStatus.COLLECTION_ERROR,
    (RunnerKind.PYTEST, 3): RunStatus.COLLECTION_ERROR,  # a conftest.py that broke
    (RunnerKind.PYTEST, 4): RunStatus.NO_TESTS,  # a file or test that is not there
    (RunnerKind.PYTEST, 5): RunStatus.NO_TESTS,
    (RunnerKind.UNITTEST, 5): RunStatus.NO_TESTS,  # since Python 3.12
}


def status_by_exit_code(runner: RunnerKind, exit_code: int | None) -> RunStatus | None:
    """Return what the exit code alone says of a run in which no test has ended."""
    if exit_code is None:
        return RunStatus.TIMED_OUT
    if exit_code in NO_PROGRAM:
        return RunStatus.NO_RUNNER
    return _STATUSES.get((runner, exit_code))
