"""What a reader may do about a message, where a service has buttons for it."""

from typing import Final

from patchwright.core.channel import Offer, Offers
from patchwright.core.text.commands import Verb
from patchwright.core.types.work import Outcome, OutcomeKind
from patchwright.resolver.messages.advice import choices
from patchwright.resolver.messages.ending import CUT_SHORT_KINDS
from patchwright.resolver.messages.facts import raise_example
from patchwright.resolver.messages.status import DeliveryResult, MessageHeader, Progress

# Slack shows five buttons in a row.
_MOST_CHOICES: Final = 4
STOP: Final = Offer(words="Stop", command=Verb.STOP)
_RETRY: Final = Offer(words="Retry", command=Verb.RETRY)
_APPROVE: Final = Offer(words="Approve plan", command=Verb.APPROVE)
_CHANGE_PLAN: Final = Offer(
    words="Change", command=Verb.PLAN, asks="What should be different?"
)
_RESUME: Final = Offer(words="Resume", command=Verb.RESUME)
_YES: Final = Offer(words="Approve", command=Verb.APPROVE)
_NO: Final = Offer(words="Reject", command=Verb.REJECT)
_BY_ADMINS: Final = "US dollars to add (admins of the repository only)"


def offers_while_running(frame: MessageHeader, progress: Progress) -> Offers:
    """Return what can be done about a run that works.

    The example of an amount is one that people who may write may still add.
    """
    example = raise_example(frame.max_raise_usd, progress.more_cost_usd)
    asks = f"US dollars to add, as {example}" if example else _BY_ADMINS
    return (STOP, Offer(words="Raise the budget", command=Verb.BUDGET, asks=asks))


def offers_at_end(outcome: Outcome, delivered: DeliveryResult) -> Offers:
    """Return what can be done about how a run ended, or about what it waits for."""
    if outcome.kind is OutcomeKind.PLAN_POSTED:
        return (_APPROVE, _CHANGE_PLAN, STOP) if outcome.waits else (_APPROVE, _CHANGE_PLAN)
    if outcome.waits:
        return _while_waiting(outcome)
    if delivered.pull_request_url:
        return (Offer(words="Open pull request", url=delivered.pull_request_url),)
    return (_RETRY,) if outcome.kind in CUT_SHORT_KINDS else ()


def _while_waiting(outcome: Outcome) -> Offers:
    if outcome.reason == "confirmation":
        return (_YES, _NO, STOP)
    if outcome.reason == "paused":
        return (_RESUME, STOP)
    numbers = map(str, choices(outcome.summary)[:_MOST_CHOICES])
    return (*(Offer(words=one, command=one) for one in numbers), STOP)
