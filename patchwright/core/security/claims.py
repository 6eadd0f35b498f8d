"""The analyzer that believes what the model says of its own action."""

from patchwright.core.events.types import AgentAction, Risk
from patchwright.core.security.analyzer import Verdict


class ClaimAnalyzer:
    """It can only raise alarm: the panel takes the highest word."""

    name = "model"

    def judge(self, action: AgentAction, claimed: Risk) -> Verdict:  # noqa: ARG002 - the protocol's
        if claimed is Risk.HIGH:
            return Verdict(risk=claimed, why="The model itself calls it risky.")
        return Verdict(risk=claimed)
