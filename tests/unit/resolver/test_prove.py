"""What the evidence amounts to."""

import pytest

from patchwright.core.types.evidence import Evidence, EvidenceRole, Proof, TestResults
from patchwright.resolver.messages.elements import EVIDENCE_DOUBTFUL, proof_sentence
from patchwright.resolver.proof.evidence import judge_evidence

NAMED = "**Not proven**: "
RED = TestResults(runner="pytest", passed=1, failed=1, names_tests=True, failing=("b",))
GREEN = TestResults(runner="pytest", passed=2, names_tests=True, passing=("b",))
Codes = tuple[int | None, ...]


def ran(role: EvidenceRole, code: int | None, found: TestResults | None) -> Evidence:
    return Evidence(
        role=role,
        command="t",
        commit="c",
        exit_code=code,
        seconds=1,
        digest="d",
        results=found,
    )


def evidence(
    before: Codes,
    after: Codes,
    red: TestResults | None = RED,
    green: TestResults | None = GREEN,
) -> tuple[Evidence, ...]:
    return (
        *(ran(EvidenceRole.BEFORE, code, red) for code in before),
        *(ran(EvidenceRole.AFTER, code, green) for code in after),
    )


@pytest.mark.parametrize(("before", "after"), [((1,), (0,)), ((1, 1), (0, 0))])
def test_red_on_base_and_green_on_head_is_proven(before: Codes, after: Codes) -> None:
    found = evidence(before, after)
    assert judge_evidence(found) is Proof.PROVEN
    assert proof_sentence(judge_evidence(found), found).startswith("**Proven**: ")


NOT_SHOWN = "the test could not be run without the change."
SHOWS_NOTHING = "the test passes without the change too, so it does not show the fault."
STILL_RED = "the test does not pass with the change."


@pytest.mark.parametrize(
    ("before", "after", "doubt"),
    [
        ((), (), "the agent named no test command, so nothing was run."),
        ((0,), (0,), SHOWS_NOTHING),
        ((1, 0), (0, 0), SHOWS_NOTHING),
        ((1,), (1,), STILL_RED),
        ((1, 1), (0, 1), STILL_RED),
        ((1,), (None,), STILL_RED),
        ((None,), (0,), NOT_SHOWN),
        *(((code,), (0,), NOT_SHOWN) for code in (2, 3, 4, 5, 126, 127, 137, -9)),
        ((1, 127), (0, 0), NOT_SHOWN),
        ((), (0,), NOT_SHOWN),
    ],
)
def test_anything_else_is_not_proven_and_says_why(
    before: Codes, after: Codes, doubt: str
) -> None:
    found = evidence(before, after)
    assert judge_evidence(found) is Proof.NOT_PROVEN
    assert proof_sentence(judge_evidence(found), found) == f"{NAMED}{doubt}"


def results(
    passed: int,
    failed: int = 0,
    skipped: int = 0,
    *,
    names: bool = True,
    failing: tuple[str, ...] = (),
    passing: tuple[str, ...] = (),
) -> TestResults:
    return TestResults(
        runner="pytest",
        passed=passed,
        failed=failed,
        skipped=skipped,
        names_tests=names,
        failing=failing,
        passing=passing,
    )


OWN_CHECK = "the agent's own check changed its exit code"
DID_NOT_RUN = "a test that failed without the change did not run with it."


@pytest.mark.parametrize(
    ("red", "green", "doubt"),
    [
        (None, None, OWN_CHECK),
        (None, GREEN, OWN_CHECK),
        (results(3), GREEN, NOT_SHOWN),  # an exit code of its own making
        (results(1, 1), GREEN, DID_NOT_RUN),  # a module that broke is no failure
        (RED, None, DID_NOT_RUN),
        (RED, results(0), DID_NOT_RUN),
        (RED, results(1, 0, 1), DID_NOT_RUN),  # it skips itself
        (RED, results(2, passing=("c",)), DID_NOT_RUN),  # another test
        (RED, results(1, passing=("b",)), DID_NOT_RUN),  # the others are gone
        (RED, results(2, 1, passing=("b",)), DID_NOT_RUN),
        (results(1, 1, names=False), results(1, names=False), DID_NOT_RUN),
        (results(1, 1, names=False), results(2, 0, 1, names=False), DID_NOT_RUN),
    ],
)
def test_h1_exit_codes_without_the_reports_that_go_with_them_prove_nothing(
    red: TestResults | None, green: TestResults | None, doubt: str
) -> None:
    found = evidence((1,), (0,), red, green)
    assert judge_evidence(found) is Proof.NOT_PROVEN
    assert proof_sentence(judge_evidence(found), found).startswith(f"{NAMED}{doubt}")


def test_h1_a_runner_that_names_no_tests_is_believed_by_its_counts() -> None:
    red, green = results(1, 1, names=False), results(2, names=False)
    assert judge_evidence(evidence((1,), (0,), red, green)) is Proof.PROVEN


def test_h1_what_alters_the_tests_is_said() -> None:
    found = evidence((1,), (0,))
    said = proof_sentence(Proof.NOT_PROVEN, found, EVIDENCE_DOUBTFUL)
    assert said == (
        "**Not proven**: the change affects how tests are run, so a person must check "
        "it first."
    )
