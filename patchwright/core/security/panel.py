"""Let several analyzers judge, of whom the most careful one counts."""

from collections.abc import Sequence
from typing import Final

import structlog

from patchwright.core.events.types import AgentAction, Risk
from patchwright.core.security.analyzer import Analyzer, Verdict
from patchwright.core.security.verdicts import UNKNOWN_RISK, high_risk, worst_verdict

log: Final = structlog.get_logger(__name__)


class AnalyzerPanel:
    """The highest risk of all; UNKNOWN only where no analyzer knew."""

    name = "panel"

    def __init__(self, analyzers: Sequence[Analyzer]) -> None:
        self._analyzers = tuple(analyzers)

    def judge(self, action: AgentAction, claimed: Risk) -> Verdict:
        verdicts = [_judge_safely(one, action, claimed) for one in self._analyzers]
        return worst_verdict(verdicts, UNKNOWN_RISK)


def _judge_safely(analyzer: Analyzer, action: AgentAction, claimed: Risk) -> Verdict:
    try:
        return analyzer.judge(action, claimed)
    except Exception as error:  # noqa: BLE001 - a plug-in may raise anything; not knowing is HIGH
        kind = type(error).__name__
        log.warning("analyzer_failed", analyzer=analyzer.name, error=kind)
        return high_risk(f"The analyzer {analyzer.name} failed ({kind}).")
