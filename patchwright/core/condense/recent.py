"""The condenser that keeps the newest turns and forgets the others."""

from patchwright.core.condense.condenser import Ask, History
from patchwright.core.condense.parts import split_history_to_fill
from patchwright.core.condense.summaries import condense_to_summary, summary_bytes
from patchwright.core.events.types import Condensed


class RecentCondenser:
    """Of what goes, only the facts are left."""

    name = "recent"

    def condense(self, history: History, ask: Ask) -> Condensed | None:  # noqa: ARG002 - the protocol's
        parts = split_history_to_fill(history, summary_bytes(history.facts))
        return condense_to_summary(history, parts.older, "")
