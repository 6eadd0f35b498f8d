"""The small condensers, and the choice of a condenser by its name."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from patchwright.core.condense.condenser import (
    Ask,
    Condenser,
    History,
    goal_bytes_of,
    size_after,
    split_history,
    split_history_to_fill,
)
from patchwright.core.condense.summary import (
    AmortisedCondenser,
    SummaryCondenser,
    condense_to_summary,
    smallest_bytes_of,
    summary_bytes,
)
from patchwright.core.entry_points import CONDENSERS, find_maker
from patchwright.core.events.types import Condensed


class NoCondenser:
    """A run that outgrows its model's window ends, and says so."""

    name = "none"

    def condense(self, history: History, ask: Ask) -> Condensed | None:  # noqa: ARG002 - the protocol's
        return None


class MaskingCondenser:
    """Costs nothing, and can be undone by the agent: it may look again."""

    name = "masking"

    def condense(self, history: History, ask: Ask) -> Condensed | None:  # noqa: ARG002 - the protocol's
        older = split_history(history).older
        if not older:
            return None
        condensed = Condensed(masked_to=older[-1].id)
        shrinks = size_after(history.turns, condensed) < history.size_bytes
        return condensed if shrinks else None


class RecentCondenser:
    """Of what goes, only the facts are left."""

    name = "recent"

    def condense(self, history: History, ask: Ask) -> Condensed | None:  # noqa: ARG002 - the protocol's
        parts = split_history_to_fill(history, summary_bytes(history.facts))
        return condense_to_summary(history, parts.older, "")


class PipelineCondenser:
    """Uses the next condenser if one does not reach the goal.

    Each sees the chat in full, so that a summary is not made of masked results; what
    they leave out is put together into one condensation.
    """

    name = "pipeline"

    def __init__(self, condensers: Sequence[Condenser]) -> None:
        self._condensers = tuple(condensers)

    def condense(self, history: History, ask: Ask) -> Condensed | None:
        goal, smallest = goal_bytes_of(history), history.size_bytes
        best: Condensed | None = None
        for condenser in self._condensers:
            # A summary is not paid for where it could not be any shorter.
            enough = max(goal, smallest_bytes_of(history)) if best else goal
            if smallest <= enough:
                break
            found = condenser.condense(history, ask)
            if found is None:
                continue
            for candidate in (found, _both(best, found)):
                size = size_after(history.turns, candidate)
                if size < smallest:
                    best, smallest = candidate, size
        return best


def _both(earlier: Condensed | None, later: Condensed) -> Condensed:
    """Combine both: mask what either masks; forget what the later one does, if any."""
    if earlier is None:
        return later
    forgets = later if later.first_id else earlier
    masked_to = max(earlier.masked_to, later.masked_to)
    return forgets.replace(masked_to=masked_to)


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
