"""Tell the services where no code lives: other threads, tickets, a person alone."""

from typing import Final

import structlog

from patchwright.core.errors import (
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
)
from patchwright.core.types.threads import ForgeThread, ThreadKind
from patchwright.core.types.work import Outcome
from patchwright.resolver.delivering.destination import (
    Destination,
    Invitation,
    Means,
    Mirrored,
)
from patchwright.resolver.delivering.saying import Message, put
from patchwright.resolver.effects import (
    AskPrivately,
    AttachLink,
    Invite,
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
    known = {str(one.thread): one for one in to.mirrors}
    told = known.get(str(effect.thread), Mirrored(thread=effect.thread))
    handle = told.handle or to.frame.handle
    frame = to.frame.keyless().replace(handle=handle)
    shown = _about(to, means, so_far)
    text = mirrored_ending(
        outcome, shown, frame, shows_words=told.shows_words, last=to.last
    )
    message = Message(text, offers_at_end(outcome, shown))
    put(message, effect.thread, told.post, mark(frame.run_id), means.channel)
    return so_far


def _about(to: Destination, means: Means, so_far: Delivered) -> Delivered:
    """Name the pull request where it was asked for: elsewhere nobody sees which."""
    thread = to.thread
    if so_far.pull_request is not None or not isinstance(thread, ForgeThread):
        return so_far
    if thread.kind is not ThreadKind.PULL_REQUEST:
        return so_far
    pull = means.forge.fetch_pull_request(thread.repo, thread.number)
    return so_far.replace(
        pull_request=pull.number, pull_request_url=pull.url, draft=pull.draft
    )


def attach_link(
    effect: AttachLink,
    outcome: Outcome,
    to: Destination,
    means: Means,
    so_far: Delivered,
) -> Delivered:
    """Show the pull request beside the ticket, once for the conversation."""
    if so_far.pull_request_url:
        board = means.channel.board(effect.thread)
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
        means.channel.board(effect.thread).move(effect.thread, effect.status)
    except _FINAL as error:
        log.warning("ticket_not_moved", key=effect.thread.id, error=str(error))
        remark = f"{effect.thread.name} stays where it is: {error}"
        return so_far.replace(remarks=(*so_far.remarks, remark))
    return so_far


def ask_privately(
    effect: AskPrivately, to: Destination, means: Means, so_far: Delivered
) -> Delivered:
    _tell_alone(Invitation(text=effect.text, offers=effect.offers), to, means)
    return so_far


def invite(
    effect: Invite, to: Destination, means: Means, so_far: Delivered
) -> Delivered:
    """Send a link that is made only now: it must not lie about anywhere."""
    make = means.renew if effect.renews else means.invite
    invitation = make(to.asked_by or to.requester)
    if invitation is not None:
        _tell_alone(invitation, to, means)
    return so_far


def _tell_alone(told: Invitation, to: Destination, means: Means) -> None:
    """Tell the requester alone; where there is no way, say so, and nothing of it."""
    asked = to.asked_by or to.requester
    try:
        means.channel.tell_privately(to.thread, asked, told.text, told.offers)
    except InvalidRequestError as error:
        log.warning("not_told_privately", thread=str(to.thread), error=str(error))
        text = f"{to.caller} {_NO_PRIVATE_WAY}\n\n{_told_mark(to)}"
        if means.channel.find_post(to.thread, _told_mark(to)) is None:
            means.channel.post(to.thread, text)


def _told_mark(to: Destination) -> str:
    return f"<!-- patchwright:no-private-way run={to.frame.run_id} -->"


_NO_PRIVATE_WAY: Final = (
    "I have to ask you something in private, and found no way to do that. An "
    "administrator can let me send you messages here, or say who you are in "
    "`accounts.map`; then ask again."
)
