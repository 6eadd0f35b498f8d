"""Choose who judges how risky an action is."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, cast

from patchwright.core.plugins import ANALYZERS, load_plugin
from patchwright.core.security.analyzer import Analyzer
from patchwright.core.security.claims import ClaimAnalyzer
from patchwright.core.security.panel import Panel
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
    return Panel([_make(name) for name in names])


def _make(name: str) -> Analyzer:
    if name in _BUILT_IN:
        return _BUILT_IN[name]()
    offered = load_plugin(
        ANALYZERS, name, setting="agent.analyzers", built_in=list(_BUILT_IN)
    )
    return cast("Callable[[], Analyzer]", offered)()
