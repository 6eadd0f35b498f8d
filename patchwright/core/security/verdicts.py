"""Make verdicts, and find the worst of several."""

from collections.abc import Iterable
from typing import Final

from patchwright.core.events.types import Risk
from patchwright.core.security.analyzer import Verdict

# What nobody knows does not outweigh what somebody does.
_ORDER: Final = (Risk.UNKNOWN, Risk.LOW, Risk.MEDIUM, Risk.HIGH)

UNKNOWN_RISK: Final = Verdict(risk=Risk.UNKNOWN)
LOW_RISK: Final = Verdict(risk=Risk.LOW)


def medium_risk(why: str) -> Verdict:
    return Verdict(risk=Risk.MEDIUM, why=why)


def high_risk(why: str) -> Verdict:
    return Verdict(risk=Risk.HIGH, why=why)


def worst_verdict(verdicts: Iterable[Verdict], default: Verdict = LOW_RISK) -> Verdict:
    """Return the first with the highest risk, and look no further than HIGH."""
    found: Verdict | None = None
    for verdict in verdicts:
        if found is None or _rank(verdict) > _rank(found):
            found = verdict
        if verdict.risk is Risk.HIGH:
            break
    return found or default


def _rank(verdict: Verdict) -> int:
    return _ORDER.index(verdict.risk)
