"""Name the commit that stands on the branch, where the forge has made it."""

from patchwright.core.types.work import Outcome, Proof
from patchwright.resolver.messages.status import Delivered


def as_delivered(outcome: Outcome, delivered: Delivered) -> Outcome:
    """Return the outcome with evidence of the commit that people find.

    It holds the very tree of the one that the commands were run on: a commit with
    another tree is not left standing. One that was put on top of other commits was
    never run, and nothing is proven of it.
    """
    if delivered.is_rebased:
        return outcome.model_copy(update={"proof": Proof.NOT_PROVEN})
    ours, theirs = outcome.head_sha, delivered.head_sha
    if not ours or not theirs or ours == theirs:
        return outcome
    evidence = tuple(
        one.model_copy(update={"commit": theirs}) if one.commit == ours else one
        for one in outcome.evidence
    )
    return outcome.model_copy(update={"evidence": evidence})
