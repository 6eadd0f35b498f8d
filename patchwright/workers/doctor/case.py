"""What is examined."""

from dataclasses import dataclass

from patchwright.core.clock import Clock
from patchwright.core.settings.model import Settings


@dataclass(frozen=True, slots=True)
class CheckContext:
    """A service by its settings, to which an App that was made for it belongs.

    With `spends` a model may be asked for real.
    """

    settings: Settings
    clock: Clock
    spends: bool = False

    @property
    def public_url(self) -> str:
        return self.settings.server.public_url
