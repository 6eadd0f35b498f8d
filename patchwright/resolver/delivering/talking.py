"""Tell the services where no code lives: other threads, tickets, a person alone."""

from typing import Final

import structlog

from patchwright.core.channel import Board
from patchwright.core.errors import (
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
)
from patchwright.core.types.threads import TalkThread
from patchwright.core.types.work import Outcome
from patchwright.resolver.delivering.destination import Destination, Means
from patchwright.resolver.delivering.saying import Message, put
from patchwright.resolver.effects import (
    AskPrivately,
    AttachLink,
    MirrorMessage,
    MoveTicket,
)
from patchwright.resolver.messages.mirrors import mirrored_ending
from patchwright.resolver.messages.offers import offers_at_end
from patchwright.resolver.messages.status import Delivered, mark

# What asking again would not change.
_FINAL: Final = (InvalidRequestError, NotFoundError, PermissionDeniedError)

log = structlog.get_logger(__name__)


def mirror(
    effect: MirrorMessage,
    outcome: Outcome,
    to: Destination,
    means: Means,
    so_far: Delivered,
) -> Delivered:
    known = {str(one.thread): one for one in to.mirrors}.get(str(effect.thread))
    text = mirrored_ending(
        outcome,
        so_far,
        to.frame,
        shows_words=known is not None and known.shows_words,
        last=to.last,
    )
    message = Message(text, offers_at_end(outcome, so_far))
    post = known.post if known else ""
    put(message, effect.thread, post, mark(to.frame.run_id), means.channel)
    return so_far


def attach_link(
    effect: AttachLink,
    outcome: Outcome,
    to: Destination,
    means: Means,
    so_far: Delivered,
) -> Delivered:
    """Show the pull request beside the ticket, once for the conversation."""
    if so_far.pull_request_url:
        board = _board(effect.thread, means)
        # Another run for the same pull request finds the link by its address.
        title = f"{to.repository.ref.full_name}#{so_far.pull_request}: {outcome.title}"
        key = so_far.pull_request_url
        board.attach_link(effect.thread, so_far.pull_request_url, title, key)
    return so_far


def move_ticket(effect: MoveTicket, means: Means, so_far: Delivered) -> Delivered:
    """Bring it to its status; where no way leads there, say so in the result."""
    if effect.with_pull and so_far.pull_request is None:
        return so_far
    try:
        _board(effect.thread, means).move(effect.thread, effect.status)
    except _FINAL as error:
        log.warning("ticket_not_moved", key=effect.thread.id, error=str(error))
        remark = f"{effect.thread.name} stays where it is: {error}"
        return so_far.model_copy(update={"remarks": (*so_far.remarks, remark)})
    return so_far


def ask_privately(
    effect: AskPrivately, to: Destination, means: Means, so_far: Delivered
) -> Delivered:
    asked = to.asked_by or to.requester
    means.channel.tell_privately(to.thread, asked, effect.text, effect.offers)
    return so_far


def invite(to: Destination, means: Means, so_far: Delivered) -> Delivered:
    """Send a link that is made only now: it must not lie about anywhere."""
    asked = to.asked_by or to.requester
    invitation = means.invite(asked)
    if invitation is not None:
        means.channel.tell_privately(
            to.thread, asked, invitation.text, invitation.offers
        )
    return so_far


def _board(thread: TalkThread, means: Means) -> Board:
    if means.find_board is None:
        raise NotFoundError(f"{thread.service} is not configured")
    return means.find_board(thread)
