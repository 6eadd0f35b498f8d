"""What a proof has found, for who goes on with the change."""

from dataclasses import dataclass

from patchwright.core.types.evidence import Evidence, Proof, ProofReport
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
