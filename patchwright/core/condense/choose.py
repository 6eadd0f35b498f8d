"""Choose how long conversations are shortened."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, cast

from patchwright.core.condense.amortised import AmortisedCondenser
from patchwright.core.condense.condenser import Condenser
from patchwright.core.condense.masking import MaskingCondenser
from patchwright.core.condense.none import NoCondenser
from patchwright.core.condense.pipeline import PipelineCondenser
from patchwright.core.condense.recent import RecentCondenser
from patchwright.core.condense.summary import SummaryCondenser
from patchwright.core.plugins import CONDENSERS, load_plugin

_BUILT_IN: Final[Mapping[str, Callable[[], Condenser]]] = {
    "none": NoCondenser,
    "recent": RecentCondenser,
    "masking": MaskingCondenser,
    "amortised": AmortisedCondenser,
    "summary": SummaryCondenser,
}


def choose_condenser(names: Sequence[str]) -> Condenser:
    """Return the condenser that tries these in order.

    A plug-in's entry point is called without arguments. Raises `SettingsError` for a
    name that nobody offers.
    """
    return PipelineCondenser([_make(name) for name in names])


def _make(name: str) -> Condenser:
    if name in _BUILT_IN:
        return _BUILT_IN[name]()
    offered = load_plugin(
        CONDENSERS, name, setting="agent.condenser", built_in=list(_BUILT_IN)
    )
    return cast("Callable[[], Condenser]", offered)()
