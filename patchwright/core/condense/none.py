"""The condenser that leaves everything as it is."""

from patchwright.core.condense.condenser import Ask, History
from patchwright.core.events.types import Condensed


class NoCondenser:
    """A run that outgrows its model's window ends, and says so."""

    name = "none"

    def condense(self, history: History, ask: Ask) -> Condensed | None:  # noqa: ARG002 - the protocol's
        return None
