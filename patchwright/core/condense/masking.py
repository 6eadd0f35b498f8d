"""The condenser that leaves out old results and keeps what was done."""

from patchwright.core.condense.apply import size_after
from patchwright.core.condense.condenser import Ask, History
from patchwright.core.condense.parts import split_history
from patchwright.core.events.types import Condensed


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
