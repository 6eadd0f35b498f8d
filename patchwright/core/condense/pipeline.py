"""The condenser that tries others in turn."""

from collections.abc import Sequence

from patchwright.core.condense.apply import size_after
from patchwright.core.condense.condenser import Ask, Condenser, History
from patchwright.core.condense.parts import goal_bytes_of
from patchwright.core.condense.summaries import smallest_bytes_of
from patchwright.core.events.types import Condensed


class PipelineCondenser:
    """Goes on to the next where one does not reach the goal.

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
    """Mask what either masks, and forget what the later one does, or else the other."""
    if earlier is None:
        return later
    forgets = later if later.first_id else earlier
    masked_to = max(earlier.masked_to, later.masked_to)
    return forgets.replace(masked_to=masked_to)
