"""Say of an outcome what its delivery has made of it."""

from patchwright.core.types.work import NOT_DELIVERED, Outcome, OutcomeKind
from patchwright.resolver.messages.status import DeliveryResult


def as_delivered(outcome: Outcome, delivered: DeliveryResult) -> Outcome:
    """Return the outcome as people find it.

    What nobody can see anywhere has failed, whatever the run came to. Otherwise the
    evidence is of the commit that stands on the branch, which may be the forge's. It
    holds the very tree of the one that the commands were run on: a commit with
    another tree is not left standing. One that was put on top of other commits has
    the evidence of what was run there; without it nothing is proven.
    """
    if outcome.kind is OutcomeKind.RESOLVED and delivered.is_nowhere:
        failed = {"kind": OutcomeKind.FAILED, "reason": NOT_DELIVERED}
        return Outcome.model_validate(outcome.model_dump() | failed)
    if delivered.is_rebased:
        evidence = delivered.evidence or outcome.evidence
        again = {"proof": delivered.proof, "evidence": evidence}
        return Outcome.model_validate(outcome.model_dump() | again)
    ours, theirs = outcome.head_sha, delivered.head_sha
    if not ours or not theirs or ours == theirs:
        return outcome
    evidence = tuple(
        one.replace(commit=theirs) if one.commit == ours else one
        for one in outcome.evidence
    )
    return outcome.replace(evidence=evidence)
