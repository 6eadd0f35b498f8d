"""An outcome of each kind, as a run would leave it."""

from datetime import UTC, datetime
from typing import Any

from patchwright.core.types.evidence import (
    Evidence,
    EvidenceRole,
    Hunk,
    Proof,
    ProofReason,
    ProofReport,
    TestChange,
    TestVerdict,
)
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import CONTRADICTED, Limits, Outcome, Usage
from patchwright.resolver.messages.pull_request import Provenance
from patchwright.resolver.messages.status import MessageHeader

HANDLE = "@patchwright"
FRAME = MessageHeader(
    run_id="7f3a9c1e" + "0" * 24,
    requester="alice",
    handle=HANDLE,
    model="openai/x",
    limits=Limits(max_cost_usd=3.0),
    asked_at=datetime(2030, 1, 1, 14, 2, 11, tzinfo=UTC),
)
ORIGIN = Provenance(
    run_id=FRAME.run_id, requester="alice", issue=7, model="openai/x", handle=HANDLE
)
RED = Evidence(
    role=EvidenceRole.BEFORE,
    command="pytest -k sum",
    commit="a" * 40,
    exit_code=1,
    seconds=1.25,
    digest="d" * 64,
)
GREEN = RED.replace(role=EvidenceRole.AFTER, commit="b" * 40, exit_code=0)
REPORT = ProofReport(
    reason=ProofReason.RED_TO_GREEN,
    base_sha="a" * 40,
    head_sha="b" * 40,
    tests=(
        TestChange(
            name="tests/test_cart.py::test_pieces",
            before=TestVerdict.FAILED,
            after=TestVerdict.PASSED,
            cause="assert 450 == 1350",
        ),
    ),
)
# All that a proof can find.
FULL_REPORT = REPORT.replace(
    newly_failing=("tests/test_tax.py::test_vat",),
    altered=("tests/test_old.py::test_sum",),
    flaky=("tests/test_net.py::test_ping",),
    uncovered=(
        Hunk(path="shop/cart.py", start=12, lines=3),
        Hunk(path="shop/tax.py", start=4, lines=0),
    ),
    hunks=5,
    hunks_tried=4,
    suite_command="pytest -q",
    suite_tests=312,
)


def ended(kind: OutcomeKind, summary: str, **fields: Any) -> Outcome:
    """Make an outcome after seven steps."""
    spent = Usage(cost_usd=0.41, tokens_in=9_000, tokens_out=800)
    outcome = Outcome(
        kind=kind, summary=summary, usage=spent, iterations=7, seconds=130.4
    )
    return outcome.replace(**fields)


def proven(summary: str = "The total ignored the pieces.") -> Outcome:
    return ended(
        OutcomeKind.RESOLVED,
        summary,
        proof=Proof.PROVEN,
        title="Count every piece",
        head_sha="b" * 40,
        evidence=(RED, GREEN),
        proof_report=REPORT,
    )


def judged(level: Proof, why: ProofReason, **fields: Any) -> Outcome:
    """Make an outcome whose change has this level of proof, without tests by name."""
    report = REPORT.replace(reason=why, tests=())
    return proven().replace(proof=level, proof_report=report, **fields)


def contradicted() -> Outcome:
    """Make an outcome whose change breaks a test."""
    return proven().replace(
        kind=OutcomeKind.NEEDS_INPUT,
        reason=CONTRADICTED,
        proof=Proof.CONTRADICTED,
        proof_report=FULL_REPORT.replace(reason=ProofReason.BREAKS_TESTS),
    )
