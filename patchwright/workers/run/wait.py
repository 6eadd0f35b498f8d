"""How an attempt ends before there is any work."""

from dataclasses import dataclass

from patchwright.core.channel import Offers
from patchwright.core.types.threads import ThreadKind, ThreadRef
from patchwright.core.types.work import Outcome
from patchwright.resolver.effects import AskPrivately, Effect, FinalMessage


@dataclass(frozen=True)
class EarlyResult:
    """What is known, or missing; `effects` are how people hear of it.

    `read_up_to` is the last event that was taken notice of.
    """

    outcome: Outcome
    effects: tuple[Effect, ...]
    read_up_to: int = 0


def tell_requester(thread: ThreadRef, text: str, offers: Offers = ()) -> Effect:
    """Tell them alone where that is possible: it concerns nobody else in a chat.

    Elsewhere the message that ends every run says it.
    """
    if thread.kind is ThreadKind.CHAT:
        return AskPrivately(text=text, offers=offers)
    return FinalMessage()
