"""Choose who judges how risky an action is."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from patchwright.core.plugins import ANALYZERS, find_maker
from patchwright.core.security.analyzer import Analyzer
from patchwright.core.security.claims import ClaimAnalyzer
from patchwright.core.security.panel import AnalyzerPanel
from patchwright.core.security.rules import RuleAnalyzer

_BUILT_IN: Final[Mapping[str, Callable[[], Analyzer]]] = {
    "rules": RuleAnalyzer,
    "model": ClaimAnalyzer,
}


def choose_analyzer(names: Sequence[str]) -> Analyzer:
    """Return the panel of these analyzers.

    A plug-in's entry point is called without arguments. Raises `SettingsError` for a
    name that nobody offers.
    """
    found = (
        find_maker(ANALYZERS, name, _BUILT_IN, setting="agent.analyzers")
        for name in names
    )
    return AnalyzerPanel([make() for make in found])
