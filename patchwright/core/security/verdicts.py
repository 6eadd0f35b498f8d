"""Make verdicts, and find the worst of several."""

from collections.abc import Iterable
from typing import Final

from patchwright.core.events.types import Risk
from patchwright.core.security.analyzer import Verdict

# What nobody knows does not outweigh what somebody does.
_ORDER: Final = (Risk.UNKNOWN, Risk.LOW, Risk.MEDIUM, Risk.HIGH)

UNKNOWN: Final = Verdict(risk=Risk.UNKNOWN)
LOW: Final = Verdict(risk=Risk.LOW)


def medium(why: str) -> Verdict:
    return Verdict(risk=Risk.MEDIUM, why=why)


def high(why: str) -> Verdict:
    return Verdict(risk=Risk.HIGH, why=why)


def worst(verdicts: Iterable[Verdict], default: Verdict = LOW) -> Verdict:
    """Return the first of those with the highest risk."""
    return max(verdicts, key=lambda one: _ORDER.index(one.risk), default=default)
