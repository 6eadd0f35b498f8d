"""Decide whether the requester is called when a run ends, and with which words."""

from typing import Final

from patchwright.core.types.people import Actor
from patchwright.core.types.work import Outcome, OutcomeKind
from patchwright.resolver.messages.ending import headline
from patchwright.resolver.messages.status import DeliveryResult, MessageHeader, run_link

# Whoever asked less than this ago still looks at the thread.
_STILL_LOOKING_S: Final = 30.0
# What a person has just asked for needs no calling them.
_ASKED_BY_PERSON: Final = frozenset({"asked", "paused"})


def wants_ping(
    outcome: Outcome, requester: Actor, *, is_edit: bool, since_asked_s: float
) -> bool:
    """Tell whether a comment of its own is due, as the end would else go unnoticed.

    `is_edit` says that the final message replaces a comment that is there already:
    GitHub notifies people of a new comment only.
    """
    if requester.is_bot or not is_edit:
        return False
    if outcome.kind is OutcomeKind.STOPPED or outcome.reason in _ASKED_BY_PERSON:
        return False
    return bool(outcome.head_sha) or outcome.waits or since_asked_s > _STILL_LOOKING_S


def ping_mark(outcome: Outcome, run_id: str) -> str:
    """Return what is in this one call, and in no other comment.

    A run that waits calls each time that it does, which is at another step.
    """
    where = f"{outcome.kind}@{outcome.iterations}"
    return f"<!-- patchwright:ping run={run_id} {where} -->"


def ping_text(outcome: Outcome, delivered: DeliveryResult, caller: str, frame: MessageHeader) -> str:
    """Return the call; `caller` is what calls the requester in that thread."""
    head = headline(outcome, delivered, is_beside_code=frame.is_beside_code)
    facts = [head, _where_to_look(outcome, delivered)]
    line = " · ".join(fact for fact in (*facts, run_link(frame, "run")) if fact)
    return f"{caller} {line}\n\n{ping_mark(outcome, frame.run_id)}"


def _where_to_look(outcome: Outcome, delivered: DeliveryResult) -> str:
    if outcome.kind is OutcomeKind.PLAN_POSTED:
        return "it is above, and waits for your word"
    if outcome.waits:
        return "the question is above"
    if outcome.kind is OutcomeKind.NEEDS_INPUT:
        return "what is missing is said above"
    if delivered.refusal:
        return "why is said above"
    if delivered.pull_request is not None:
        return ""
    return "see above"
