"""What a proof has found, for who goes on with the change."""

from collections.abc import Sequence
from dataclasses import dataclass

from patchwright.core.types.evidence import (
    Evidence,
    EvidenceRole,
    Proof,
    ProofReport,
)
from patchwright.core.types.work import Outcome


@dataclass(frozen=True)
class ProofResult:
    """What a proof has found; `warnings` are for who reviews the change."""

    level: Proof
    report: ProofReport
    evidence: tuple[Evidence, ...] = ()
    warnings: tuple[str, ...] = ()

    def applied_to(self, outcome: Outcome) -> Outcome:
        """Return the outcome with this proof in place of any that it had."""
        return outcome.replace(
            proof=self.level,
            proof_report=self.report,
            evidence=self.evidence,
            warnings=(*outcome.warnings, *self.warnings),
        )


def earlier_commands(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    """Return the test commands of the newest proof among outcomes, the oldest first.

    Where nothing was shown by any of them, it is what was tried last.
    """
    tried = [one for one in reversed(outcomes) if _commands_before(one)]
    shown = [
        one for one in tried if one.proof in (Proof.PROVEN, Proof.SHOWN_BY_COMMAND)
    ]
    newest = next(iter((*shown, *tried)), None)
    return _commands_before(newest) if newest else ()


def _commands_before(outcome: Outcome) -> tuple[str, ...]:
    before = (e.command for e in outcome.evidence if e.role is EvidenceRole.BEFORE)
    return tuple(dict.fromkeys(before))
