"""Compare how tests ended in two runs of one command, test by test."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from patchwright.core.types.evidence import (
    Evidence,
    RunStatus,
    TestChange,
    TestResults,
    TestVerdict,
)
from patchwright.resolver.proof.runners import NO_PROGRAM, RunnerKind, says_failed

_DID_NOT_RUN: Final = (RunStatus.NO_RUNNER, RunStatus.TIMED_OUT)
FAILING: Final = (TestVerdict.FAILED, TestVerdict.BROKEN)
_RAN: Final = (TestVerdict.PASSED, TestVerdict.FAILED)


@dataclass(frozen=True)
class TestComparison:
    """What became of the tests of one command, by their names.

    `mended` failed in the first run and pass in the second. `turned` passed first and
    fail now; `silenced` ran first and do not run any more. `still` failed in both runs,
    and `fresh` fails in the second and had not run in the first. `unchanged` passed in
    both.
    """

    __test__ = False

    mended: tuple[TestChange, ...] = ()
    turned: tuple[str, ...] = ()
    silenced: tuple[str, ...] = ()
    still: tuple[str, ...] = ()
    fresh: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pair:
    """One command on two versions of the files."""

    command: str
    before: Evidence
    after: Evidence

    @property
    def comparison(self) -> TestComparison:
        return compare(self.before, self.after)

    @property
    def seconds(self) -> float:
        return max(self.before.seconds, self.after.seconds)


def compare(before: Evidence, after: Evidence) -> TestComparison:
    """Compare two runs of the same command on different files.

    A runner that names no tests is believed by its counts, and then the command stands
    for all its tests.
    """
    was, now = before.results, after.results
    if was is None or now is None or was.runner != now.runner:
        return TestComparison()
    if not (was.names_tests and now.names_tests):
        return _compare_counts(before, was, after, now)
    old, new = verdicts_of(before), verdicts_of(after)
    mended = _mended(before, after) if is_red(before) and is_believed(after) else ()
    return TestComparison(
        mended=mended,
        turned=_with(old, new, (TestVerdict.PASSED,), FAILING),
        silenced=find_silenced(old, new),
        still=_with(old, new, FAILING, FAILING),
        fresh=_with(old, new, (TestVerdict.NOT_RUN, TestVerdict.SKIPPED), FAILING),
        unchanged=_with(old, new, (TestVerdict.PASSED,), (TestVerdict.PASSED,)),
    )


def verdicts_of(one: Evidence) -> Mapping[str, TestVerdict]:
    """Return how each test ended that the runner has named."""
    found = one.results
    if found is None:
        return {}
    lists = (
        (TestVerdict.PASSED, found.passing),
        (TestVerdict.SKIPPED, found.skipping),
        (TestVerdict.FAILED, found.failing),
        (TestVerdict.BROKEN, found.broken),
    )
    return {name: verdict for verdict, names in lists for name in names}


def is_red(one: Evidence) -> bool:
    """Tell whether a test has run and failed, by the report of its runner."""
    found = one.results
    if found is None or one.status in _DID_NOT_RUN:
        return False
    has_failed = bool(found.failing) if found.names_tests else found.failed > 0
    return has_failed and says_failed(RunnerKind(found.runner), one.exit_code)


def is_believed(one: Evidence) -> bool:
    """Tell whether the exit code goes with what the runner has reported."""
    found = one.results
    if found is None or one.status in _DID_NOT_RUN:
        return False
    if found.failed:
        return says_failed(RunnerKind(found.runner), one.exit_code)
    return one.exit_code == 0 and found.passed > 0


def has_no_runner(one: Evidence) -> bool:
    return one.status is RunStatus.NO_RUNNER or one.exit_code in NO_PROGRAM


def find_silenced(
    old: Mapping[str, TestVerdict], new: Mapping[str, TestVerdict]
) -> tuple[str, ...]:
    """Return the tests that ran first and do not run any more.

    The values that a test is given may come out of the code: it still runs when it runs
    with other values.
    """
    running = {
        plain_name(name)
        for name, verdict in new.items()
        if verdict is not TestVerdict.SKIPPED
    }
    return tuple(
        name
        for name, verdict in old.items()
        if verdict in _RAN
        and _lookup(new, name) in (TestVerdict.SKIPPED, TestVerdict.NOT_RUN)
        and (name in new or plain_name(name) not in running)
    )


def plain_name(name: str) -> str:
    """Return the name of a test without the values that it is given."""
    return name.partition("[")[0]


def cause_of(one: Evidence, name: str) -> str:
    return one.results.causes.get(name, "") if one.results else ""


def _mended(before: Evidence, after: Evidence) -> tuple[TestChange, ...]:
    failing = before.results.failing if before.results else ()
    passing = set(after.results.passing) if after.results else set[str]()
    return tuple(
        TestChange(
            name=name,
            before=TestVerdict.FAILED,
            after=TestVerdict.PASSED,
            cause=cause_of(before, name),
        )
        for name in failing
        if name in passing
    )


def _with(
    old: Mapping[str, TestVerdict],
    new: Mapping[str, TestVerdict],
    before: Iterable[TestVerdict],
    after: Iterable[TestVerdict],
) -> tuple[str, ...]:
    first, then = frozenset(before), frozenset(after)
    return tuple(
        name
        for name in new
        if _lookup(old, name) in first and _lookup(new, name) in then
    )


def _lookup(verdicts: Mapping[str, TestVerdict], name: str) -> TestVerdict:
    return verdicts.get(name, TestVerdict.NOT_RUN)


def _compare_counts(
    before: Evidence, was: TestResults, after: Evidence, now: TestResults
) -> TestComparison:
    command = (after.command,)
    all_ran = now.skipped <= was.skipped and now.passed >= was.passed + was.failed
    if is_red(before):
        if not now.failed and after.exit_code == 0 and all_ran:
            mended = TestChange(
                name=after.command, before=TestVerdict.FAILED, after=TestVerdict.PASSED
            )
            return TestComparison(mended=(mended,))
        return (
            TestComparison(still=command)
            if now.failed
            else TestComparison(silenced=command)
        )
    if before.exit_code != 0:
        return TestComparison()
    if is_red(after):
        return TestComparison(turned=command)
    return (
        TestComparison(unchanged=command) if after.exit_code == 0 else TestComparison()
    )
