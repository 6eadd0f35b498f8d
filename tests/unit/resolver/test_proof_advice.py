"""What an agent reads when the proof of its change falls short."""

import pytest

from patchwright.core.types.evidence import (
    Evidence,
    EvidenceRole,
    Proof,
    ProofReason,
    ProofReport,
    RunStatus,
    TestChange,
    TestResults,
    TestVerdict,
)
from patchwright.resolver.proof.advice import HELD_BACK, can_be_mended, proof_advice
from patchwright.resolver.proof.evidence import ProofResult

COMMAND = "python3 -m unittest test_pieces"


def ran(role: EvidenceRole, exit_code: int | None, **more: object) -> Evidence:
    fields = {"role": role, "command": COMMAND, "commit": "a" * 40, "seconds": 0.1}
    given = fields | {"exit_code": exit_code, "digest": "d" * 64} | more
    return Evidence.model_validate(given)


def short(
    level: Proof, reason: ProofReason, *evidence: Evidence, **report: object
) -> ProofResult:
    said = ProofReport.model_validate({"reason": reason, **report})
    return ProofResult(level, said, evidence)


def test_without_a_command_it_is_told_to_name_one() -> None:
    assert proof_advice(short(Proof.NOT_PROVEN, ProofReason.NO_COMMAND), 0) == (
        "finish was held back. Not proven: no test command was named, so nothing was "
        "run.\n\n"
        "Name in `test_commands` the command that runs the test of your change. If "
        "there is no such test yet, add one: it must fail without your change to the "
        "code and pass with it, and call the test runner plainly. Then call finish "
        "again: the proof is run anew. If nothing more can be done, call finish again "
        "unchanged: it counts then as it is."
    )


def test_what_was_run_is_told_with_each_test_and_the_end_of_its_output() -> None:
    failing = TestResults(
        runner="unittest",
        passed=2,
        failed=1,
        names_tests=True,
        failing=("PiecesTest.test_every_piece_counts",),
        causes={"PiecesTest.test_every_piece_counts": "AssertionError: 450 != 1350"},
    )
    result = short(
        Proof.CONTRADICTED,
        ProofReason.FAILS_WITH_CHANGE,
        ran(EvidenceRole.BEFORE, 1, results=failing, tail="before\n"),
        ran(EvidenceRole.AFTER, 1, results=failing, tail="450 != 1350\n"),
    )
    advice = proof_advice(result, 0)
    assert advice.startswith(
        "finish was held back. Contradicted: a test of this change fails with it.\n"
    )
    assert f"- after the change: `{COMMAND}`: exit 1, 2 passed, 1 failed\n" in advice
    assert (
        "- `PiecesTest.test_every_piece_counts` fails after the change: "
        "AssertionError: 450 != 1350\n" in advice
    )
    # What fails with the change comes first.
    assert advice.index("printed (after") < advice.index("printed (before")
    assert "```\n450 != 1350\n" in advice
    assert "Mend the change or the test." in advice


def test_the_tests_of_the_report_are_told_once_and_in_both_states() -> None:
    one = TestChange(
        name="test_a",
        before=TestVerdict.PASSED,
        after=TestVerdict.PASSED,
    )
    results = TestResults(runner="pytest", passed=1, names_tests=True)
    result = short(
        Proof.NOT_PROVEN,
        ProofReason.GREEN_WITHOUT_CHANGE,
        ran(EvidenceRole.BEFORE, 0, results=results),
        tests=(one,),
    )
    assert "Test by test:\n- `test_a`: passed before, passed after\n" in proof_advice(
        result, 0
    )


def test_broken_tests_are_named() -> None:
    names = tuple(f"test_{n}" for n in range(25))
    result = short(Proof.CONTRADICTED, ProofReason.BREAKS_TESTS, newly_failing=names)
    advice = proof_advice(result, 1)
    assert "Passed before the change and fail with it:\n- `test_0`\n" in advice
    assert "- `test_9`\n- and 15 more\n" in advice
    assert "leave the tests as they were" in advice
    assert advice.endswith(
        "the proof is run anew, for the last time. After that your work counts as it "
        "is."
    )


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (RunStatus.NO_RUNNER, ": no test runner (exit 127)\n"),
        (RunStatus.NO_TESTS, ": no tests (exit 127)\n"),
        (RunStatus.COLLECTION_ERROR, ": tests not loaded (exit 127)\n"),
        (RunStatus.RAN, ": exit 127\n"),
    ],
)
def test_how_a_command_ended_is_said(status: RunStatus, said: str) -> None:
    before = ran(EvidenceRole.BEFORE, 127, status=status)
    result = short(Proof.NOT_PROVEN, ProofReason.NO_RUNNER, before)
    assert said in proof_advice(result, 0)


def test_it_is_never_long() -> None:
    long = "x" * 50_000
    results = TestResults(
        runner="pytest", failed=500, failing=(long,) * 500, names_tests=True
    )
    evidence = [
        ran(EvidenceRole.AFTER, 1, command=long, tail=long, results=results)
        for _ in range(50)
    ]
    result = short(
        Proof.CONTRADICTED,
        ProofReason.BREAKS_TESTS,
        *evidence,
        newly_failing=(long,) * 500,
        altered=(long,) * 500,
        flaky=(long,) * 500,
    )
    assert len(proof_advice(result, 0)) < 16_000


@pytest.mark.parametrize("reason", ProofReason)
def test_each_reason_that_can_be_mended_says_how(reason: ProofReason) -> None:
    beyond_reach = {
        *(ProofReason.RED_TO_GREEN, ProofReason.RED_WITHOUT_PART),
        *(ProofReason.DOUBTFUL, ProofReason.NO_SANDBOX, ProofReason.SWITCHED_OFF),
        ProofReason.OTHER_COMMIT,
    }
    result = short(Proof.NOT_PROVEN, reason)
    assert can_be_mended(result) is (reason not in beyond_reach)
    assert proof_advice(result, 0).startswith(f"{HELD_BACK} Not proven: ")
