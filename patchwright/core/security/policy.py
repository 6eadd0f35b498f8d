"""Decide which actions wait for a person's word."""

from typing import Literal, assert_never

from patchwright.core.events.types import Risk

ConfirmPolicy = Literal["never", "risky", "always"]


def needs_confirmation(policy: ConfirmPolicy, risk: Risk) -> bool:
    """Tell whether to ask; a risk that nobody could judge is risky."""
    match policy:
        case "never":
            return False
        case "risky":
            return risk in {Risk.HIGH, Risk.UNKNOWN}
        case "always":
            return True
        case _:
            assert_never(policy)
