"""The protocol of a security analyzer, its verdict, and which actions need a yes."""

import hashlib
import json
from collections.abc import Iterable
from typing import Final, Literal, Protocol, assert_never

from patchwright.core.events.actions import AgentAction
from patchwright.core.events.payload import Risk
from patchwright.core.types.base import Value


class Verdict(Value):
    """How risky an action is; `why` is a sentence for the person who is asked."""

    risk: Risk
    why: str = ""


class Analyzer(Protocol):
    """Judges an action before it is run. If it raises, the risk is HIGH."""

    name: str

    def judge(self, action: AgentAction, claimed: Risk) -> Verdict:
        """Judge an action; `claimed` is the model's own estimate."""
        ...


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


_INCIDENTAL = {"call_id", "agent", "risk"}


def digest_of(action: AgentAction) -> str:
    """Return the SHA-256, in hexadecimal, of the action's canonical JSON form."""
    tree = action.model_dump(mode="json", exclude=_INCIDENTAL)
    text = json.dumps(tree, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
