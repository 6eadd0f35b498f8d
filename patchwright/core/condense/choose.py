"""Choose how long conversations are shortened."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from patchwright.core.condense.amortised import AmortisedCondenser
from patchwright.core.condense.condenser import Condenser
from patchwright.core.condense.masking import MaskingCondenser
from patchwright.core.condense.none import NoCondenser
from patchwright.core.condense.pipeline import PipelineCondenser
from patchwright.core.condense.recent import RecentCondenser
from patchwright.core.condense.summary import SummaryCondenser
from patchwright.core.plugins import CONDENSERS, find_maker

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
    found = (
        find_maker(CONDENSERS, name, _BUILT_IN, setting="agent.condenser")
        for name in names
    )
    return PipelineCondenser([make() for make in found])
