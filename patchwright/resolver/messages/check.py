"""What a run says of itself in a commit's list of checks."""

from datetime import datetime
from typing import Final

from patchwright.core.forge import CheckReport, CheckState
from patchwright.core.types.work import Outcome, OutcomeKind, Proof
from patchwright.resolver.messages.ending import final_comment, headline
from patchwright.resolver.messages.status import DeliveryResult, MessageHeader

_WITHOUT_EMPHASIS: Final = str.maketrans("", "", "*`")


def check_at_start(frame: MessageHeader, at: datetime) -> CheckReport:
    return CheckReport(
        key=frame.run_id,
        title="Working on it",
        summary=f"Asked for by {frame.requester}.",
        state=CheckState.IN_PROGRESS,
        url=frame.run_url,
        at=at,
    )


def check_at_end(
    outcome: Outcome, delivered: DeliveryResult, frame: MessageHeader, at: datetime
) -> CheckReport:
    """Say what the status comment says, where reviewers look first."""
    title = headline(outcome, delivered).translate(_WITHOUT_EMPHASIS)
    return CheckReport(
        key=frame.run_id,
        title=f"{title} · {_PROOFS[outcome.proof]}" if outcome.head_sha else title,
        summary=final_comment(outcome, delivered, frame),
        state=conclusion_of(outcome),
        url=frame.run_url,
        at=at,
    )


def conclusion_of(outcome: Outcome) -> CheckState:
    """Return how GitHub's list shows an outcome; only what is proven is green."""
    if outcome.waits:
        return CheckState.ACTION_REQUIRED
    if outcome.kind is OutcomeKind.RESOLVED and outcome.proof is not Proof.PROVEN:
        return CheckState.NEUTRAL
    return _CONCLUSIONS.get(outcome.kind, CheckState.FAILURE)


_CONCLUSIONS: Final = {
    OutcomeKind.RESOLVED: CheckState.SUCCESS,
    OutcomeKind.ANSWERED: CheckState.SUCCESS,
    OutcomeKind.NO_CHANGE: CheckState.NEUTRAL,
    OutcomeKind.REFUSED: CheckState.NEUTRAL,
    OutcomeKind.NEEDS_INPUT: CheckState.ACTION_REQUIRED,
    OutcomeKind.PLAN_POSTED: CheckState.ACTION_REQUIRED,
    OutcomeKind.STOPPED: CheckState.CANCELLED,
}
_PROOFS: Final = {
    Proof.PROVEN: "proven",
    Proof.NOT_PROVEN: "not proven",
    Proof.NONE: "no evidence",
}
