"""A proof is shown for the commit that it is about, and for no other."""

import pytest

from patchwright.core.types.evidence import Proof, ProofReason
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.resolver.messages.proof_words import level_sentence
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.resolver.publish.publisher import as_delivered
from tests.unit.resolver.endings import REPORT, contradicted, proven

OURS, FORGES, OTHER = "b" * 40, "c" * 40, "e" * 40


def test_the_forges_commit_of_the_same_tree_has_the_proof() -> None:
    shown = as_delivered(proven(), DeliveryResult(branch="x", head_sha=FORGES))
    assert shown.proof is Proof.PROVEN
    assert shown.proof_report is not None
    assert shown.proof_report.head_sha == FORGES
    assert shown.evidence[-1].commit == FORGES


@pytest.mark.parametrize("delivered", [DeliveryResult(), DeliveryResult(head_sha=OURS)])
def test_a_proof_of_another_commit_proves_nothing(delivered: DeliveryResult) -> None:
    stale = proven().replace(proof_report=REPORT.replace(head_sha=OTHER))
    shown = as_delivered(stale, delivered)
    assert shown.proof is Proof.NOT_PROVEN
    assert shown.proof_report is not None
    assert shown.proof_report.reason is ProofReason.OTHER_COMMIT
    assert level_sentence(shown.proof, shown.proof_report) == (
        "Not proven: the tests ran on another commit than the one that is there now."
    )


def test_what_speaks_against_a_change_stays_said() -> None:
    outcome = contradicted()
    assert outcome.proof_report is not None
    older = outcome.proof_report.replace(head_sha=OTHER)
    shown = as_delivered(outcome.replace(proof_report=older), DeliveryResult())
    assert shown.proof is Proof.CONTRADICTED


def test_on_top_of_other_commits_the_proof_there_counts() -> None:
    rebased = DeliveryResult(branch="x", head_sha=FORGES, is_rebased=True)
    shown = as_delivered(proven(), rebased)
    assert shown.proof is Proof.NOT_PROVEN
    assert shown.proof_report is not None
    assert shown.proof_report.reason is ProofReason.OTHER_COMMIT
    again = rebased.replace(
        proof=Proof.PROVEN, proof_report=REPORT.replace(head_sha=FORGES)
    )
    assert as_delivered(proven(), again).proof is Proof.PROVEN


def test_what_reached_nobody_has_failed() -> None:
    shown = as_delivered(proven(), DeliveryResult(refusal="no"))
    assert shown.kind is OutcomeKind.FAILED
