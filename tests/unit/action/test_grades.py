"""How an outcome counts for `fail-on`."""

import pytest

from patchwright.core.ci.result import Grade
from patchwright.core.types.evidence import Proof, ProofReason
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Outcome
from patchwright.workers.action.outputs import grade_of
from tests.unit.resolver.endings import contradicted, ended, judged, proven


@pytest.mark.parametrize(
    ("outcome", "grade"),
    [
        (proven(), Grade.GOOD),
        (ended(OutcomeKind.ANSWERED, "42"), Grade.GOOD),
        (judged(Proof.NOT_PROVEN, ProofReason.NO_COMMAND), Grade.UNPROVEN),
        (judged(Proof.SHOWN_BY_COMMAND, ProofReason.COMMAND_TO_GREEN), Grade.UNPROVEN),
        (judged(Proof.NONE, ProofReason.SWITCHED_OFF), Grade.UNPROVEN),
        (contradicted(), Grade.UNRESOLVED),
        (ended(OutcomeKind.FAILED, "x"), Grade.ERROR),
    ],
)
def test_only_a_proven_change_is_wholly_good(outcome: Outcome, grade: Grade) -> None:
    assert grade_of(outcome) is grade
