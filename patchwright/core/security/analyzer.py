"""The protocol of a security analyzer, and its verdict."""

from typing import Protocol

from patchwright.core.events.types import AgentAction, Risk
from patchwright.core.types.base import Value


class Verdict(Value):
    """How risky an action is; `why` is a sentence for the person who is asked."""

    risk: Risk
    why: str = ""


class Analyzer(Protocol):
    """Judges an action before it is run. What it raises counts as HIGH."""

    name: str

    def judge(self, action: AgentAction, claimed: Risk) -> Verdict:
        """Judge an action; `claimed` is what the model says of it itself."""
        ...
