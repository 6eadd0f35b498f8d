"""Decide which actions wait for a person's word."""

from typing import Literal

from patchwright.core.events.types import Risk

Policy = Literal["never", "risky", "always"]


def needs_confirmation(policy: Policy, risk: Risk) -> bool:
    """Tell whether a person must be asked; what nobody could judge counts as risky."""
    if policy == "risky":
        return risk in (Risk.HIGH, Risk.UNKNOWN)
    return policy == "always"
