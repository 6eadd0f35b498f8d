"""What the runs of a proof amount to, and how tests are compared."""

from dataclasses import replace

import pytest

from patchwright.core.types.evidence import (
    Evidence,
    EvidenceRole,
    Proof,
    ProofReason,
    RunStatus,
    TestChange,
    TestResults,
    TestVerdict,
)
from patchwright.resolver.proof.comparison import Pair, TestComparison, compare
from patchwright.resolver.proof.judgement import ProofFindings, judge

COMMAND = "python3 -m pytest test_a.py"


def results(
    passed: int = 0,
    failed: int = 0,
    skipped: int = 0,
    *,
    names: bool = True,
    failing: tuple[str, ...] = (),
    passing: tuple[str, ...] = (),
    skipping: tuple[str, ...] = (),
    broken: tuple[str, ...] = (),
) -> TestResults:
    return TestResults(
        runner="pytest",
        passed=passed or len(passing),
        failed=failed or len(failing) + len(broken),
        skipped=skipped or len(skipping),
        names_tests=names,
        failing=failing,
        passing=passing,
        skipping=skipping,
        broken=broken,
        causes=dict.fromkeys(failing, "AssertionError: 1 != 2"),
    )


RED = results(failing=("b",), passing=("a",))
GREEN = results(passing=("a", "b"))


def ran(
    role: EvidenceRole,
    code: int | None,
    found: TestResults | None = None,
    *,
    status: RunStatus = RunStatus.UNREAD,
    command: str = COMMAND,
    tail: str = "",
) -> Evidence:
    return Evidence(
        role=role,
        command=command,
        commit="c",
        exit_code=code,
        seconds=1,
        digest="d",
        results=found,
        status=RunStatus.RAN if found else status,
        tail=tail,
    )


def compared(
    red: TestResults | None,
    green: TestResults | None,
    codes: tuple[int | None, int | None] = (1, 0),
) -> TestComparison:
    before = ran(EvidenceRole.BEFORE, codes[0], red)
    return compare(before, ran(EvidenceRole.AFTER, codes[1], green))


def test_h1_a_test_that_failed_and_passes_is_mended() -> None:
    found = compared(RED, GREEN)
    [mended] = found.mended
    assert mended == TestChange(
        name="b",
        before=TestVerdict.FAILED,
        after=TestVerdict.PASSED,
        cause="AssertionError: 1 != 2",
    )
    assert found.unchanged == ("a",)
    assert (found.turned, found.silenced, found.still, found.fresh) == ((),) * 4


@pytest.mark.parametrize(
    ("red", "green", "codes"),
    [
        (None, GREEN, (1, 0)),
        (RED, None, (1, 0)),
        (RED, GREEN, (2, 0)),  # an exit code that the runner does not give
        (RED, GREEN, (0, 0)),
        (RED, GREEN, (None, 0)),
        (RED, GREEN, (1, 1)),
        (RED, GREEN, (1, None)),
        (results(broken=("b",), passing=("a",)), GREEN, (1, 0)),
        (RED, results(passing=("a",), skipping=("b",)), (1, 0)),
        (RED, results(passing=("a", "c")), (1, 0)),
        (results(1, 1, names=False), results(1, names=False), (1, 0)),
        (results(1, 1, names=False), results(2, 0, 1, names=False), (1, 0)),
        (results(1, 1, names=False), results(2, 1, names=False), (1, 1)),
    ],
)
def test_h1_exit_codes_without_the_reports_that_go_with_them_mend_nothing(
    red: TestResults | None,
    green: TestResults | None,
    codes: tuple[int | None, int | None],
) -> None:
    assert compared(red, green, codes).mended == ()


def test_h1_a_runner_that_names_no_tests_is_believed_by_its_counts() -> None:
    found = compared(results(1, 1, names=False), results(2, names=False))
    assert [one.name for one in found.mended] == [COMMAND]
    turned = compared(results(2, names=False), results(1, 1, names=False), (0, 1))
    assert turned.turned == (COMMAND,)


def test_each_test_is_put_where_it_belongs() -> None:
    old = results(passing=("a", "b", "c", "f[1]"), failing=("d", "e"))
    new = results(passing=("a", "d", "f[2]"), failing=("b", "e", "n"), skipping=("c",))
    found = compared(old, new, (1, 1))
    assert [one.name for one in found.mended] == ["d"]
    assert found.turned == ("b",)
    assert found.silenced == ("c",)
    assert found.still == ("e",)
    assert found.fresh == ("n",)
    assert found.unchanged == ("a",)


def pair(
    before: Evidence | None = None,
    after: Evidence | None = None,
    command: str = COMMAND,
) -> Pair:
    red = before or ran(EvidenceRole.BEFORE, 1, RED, command=command)
    green = after or ran(EvidenceRole.AFTER, 0, GREEN, command=command)
    return Pair(command, red, green)


def findings(*pairs: Pair) -> ProofFindings:
    evidence = tuple(one for each in pairs for one in (each.before, each.after))
    return ProofFindings(evidence=evidence, pairs=pairs)


PROVING = TestChange(name="b", before=TestVerdict.FAILED, after=TestVerdict.PASSED)
SHOWN = replace(findings(pair()), proving=(PROVING,))


@pytest.mark.parametrize(
    ("found", "level", "reason"),
    [
        (SHOWN, Proof.PROVEN, ProofReason.RED_TO_GREEN),
        (replace(SHOWN, from_part=True), Proof.PROVEN, ProofReason.RED_WITHOUT_PART),
        (replace(SHOWN, flaky=("a",)), Proof.PROVEN, ProofReason.RED_TO_GREEN),
        (replace(SHOWN, missing=("a",)), Proof.PROVEN, ProofReason.RED_TO_GREEN),
        (replace(SHOWN, still_failing=("a",)), Proof.PROVEN, ProofReason.RED_TO_GREEN),
        (
            replace(SHOWN, failing=("c",), newly_failing=("d",)),
            Proof.CONTRADICTED,
            ProofReason.FAILS_WITH_CHANGE,
        ),
        (
            replace(SHOWN, newly_failing=("d",), altered=("e",), is_doubtful=True),
            Proof.CONTRADICTED,
            ProofReason.BREAKS_TESTS,
        ),
        (
            replace(SHOWN, silenced=("d",)),
            Proof.NOT_PROVEN,
            ProofReason.NOT_RUN_WITH_CHANGE,
        ),
        (
            replace(SHOWN, altered=("e",), is_doubtful=True),
            Proof.NOT_PROVEN,
            ProofReason.ALTERED_TESTS,
        ),
        (replace(SHOWN, is_doubtful=True), Proof.NOT_PROVEN, ProofReason.DOUBTFUL),
        (replace(SHOWN, needs_code=False), Proof.NOT_PROVEN, ProofReason.UNCOVERED),
    ],
)
def test_what_speaks_against_a_change_comes_first(
    found: ProofFindings, level: Proof, reason: ProofReason
) -> None:
    verdict = judge(found)
    assert (verdict.level, verdict.reason) == (level, reason)


NOTHING = findings()
GREEN_BOTH = findings(
    pair(before=ran(EvidenceRole.BEFORE, 0, GREEN)),
)


def without_results(
    before: int | None,
    after: int | None,
    status: RunStatus = RunStatus.UNREAD,
    command: str = COMMAND,
    tail: str = "",
) -> ProofFindings:
    red = ran(EvidenceRole.BEFORE, before, status=status, command=command, tail=tail)
    green = ran(EvidenceRole.AFTER, after, status=status, command=command)
    return findings(Pair(command, red, green))


CHECK = "grep -q x a"


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (NOTHING, ProofReason.NO_COMMAND),
        (replace(GREEN_BOTH, unchanged=True), ProofReason.GREEN_WITHOUT_CHANGE),
        (replace(GREEN_BOTH, missing=("a",)), ProofReason.MISSING_NAME),
        (replace(GREEN_BOTH, flaky=("a",)), ProofReason.FLAKY),
        (
            replace(findings(pair()), still_failing=("b",)),
            ProofReason.FAILS_WITH_CHANGE,
        ),
        (findings(pair()), ProofReason.NOT_RUN_WITH_CHANGE),
        (
            without_results(1, 1, RunStatus.COLLECTION_ERROR),
            ProofReason.COLLECTION_ERROR,
        ),
        (without_results(127, 127, RunStatus.NO_RUNNER), ProofReason.NO_RUNNER),
        (without_results(4, 4, RunStatus.NO_TESTS), ProofReason.NO_TESTS),
        (without_results(None, None, RunStatus.TIMED_OUT), ProofReason.TIMED_OUT),
        (without_results(0, 0, command=CHECK), ProofReason.GREEN_WITHOUT_CHANGE),
        (without_results(1, 1, command=CHECK), ProofReason.FAILS_WITH_CHANGE),
        (without_results(127, 0, command=CHECK), ProofReason.NO_RUNNER),
        (without_results(None, 0, command=CHECK), ProofReason.TIMED_OUT),
        (
            without_results(
                2, 0, command=CHECK, tail="grep: a: No such file or directory"
            ),
            ProofReason.COLLECTION_ERROR,
        ),
    ],
)
def test_a_reason_is_given_where_nothing_is_shown(
    found: ProofFindings, reason: ProofReason
) -> None:
    verdict = judge(found)
    assert (verdict.level, verdict.reason) == (Proof.NOT_PROVEN, reason)


def test_a_command_that_is_no_test_shows_or_contradicts() -> None:
    shown = judge(without_results(1, 0, command=CHECK))
    assert (shown.level, shown.reason) == (
        Proof.SHOWN_BY_COMMAND,
        ProofReason.COMMAND_TO_GREEN,
    )
    turned = judge(without_results(0, 1, command=CHECK))
    assert turned.level is Proof.CONTRADICTED
    # Of a test runner more can be expected than an exit code.
    assert judge(without_results(1, 0)).level is Proof.NOT_PROVEN


def test_tests_of_a_merge_need_not_have_failed() -> None:
    merged = replace(findings(pair()), failing=("c",), is_merge=True)
    assert judge(merged).level is Proof.NOT_PROVEN
    broken = replace(merged, newly_failing=("a",))
    assert judge(broken).level is Proof.CONTRADICTED
