"""How an attempt ends before there is any work."""

from dataclasses import dataclass

from patchwright.core.types.work import Outcome
from patchwright.resolver.effects import Effect


@dataclass(frozen=True)
class Wait:
    """What is known, or missing; `effects` are how people hear of it.

    `read_up_to` is the last event that was taken notice of.
    """

    outcome: Outcome
    effects: tuple[Effect, ...]
    read_up_to: int = 0
