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
    PublisherDependencies,
    CrossPostTarget,
)
from patchwright.resolver.delivering.saying import OutgoingMessage, edit_or_post
from patchwright.resolver.effects import (
    AskPrivately,
    AttachLink,
    Invite,
    CrossPost,
    MoveTicket,
)
from patchwright.resolver.messages.mirrors import cross_post_result
from patchwright.resolver.messages.offers import offers_at_end
from patchwright.resolver.messages.status import DeliveryResult, mark

# What asking again would not change.
_NOT_WORTH_RETRYING: Final = (InvalidRequestError, NotFoundError, PermissionDeniedError)

log = structlog.get_logger(__name__)


def cross_post(
    effect: CrossPost,
    outcome: Outcome,
    to: Destination,
    dependencies: PublisherDependencies,
    so_far: DeliveryResult,
) -> DeliveryResult:
    known = {str(one.thread): one for one in to.mirrors}
    told = known.get(str(effect.thread), CrossPostTarget(thread=effect.thread))
    handle = told.handle or to.frame.handle
    frame = to.frame.without_link_key().replace(handle=handle)
    shown = _with_requested_pull(to, dependencies, so_far)
    text = cross_post_result(
        outcome, shown, frame, shows_words=told.shows_words, last=to.last
    )
    message = OutgoingMessage(text, offers_at_end(outcome, shown))
    edit_or_post(message, effect.thread, told.post, mark(frame.run_id), dependencies.channel)
    return so_far


def _with_requested_pull(to: Destination, dependencies: PublisherDependencies, so_far: DeliveryResult) -> DeliveryResult:
    """Name the pull request where it was asked for: elsewhere nobody sees which."""
    thread = to.thread
    if so_far.pull_request is not None or not isinstance(thread, ForgeThread):
        return so_far
    if thread.kind is not ThreadKind.PULL_REQUEST:
        return so_far
    pull = dependencies.forge.fetch_pull_request(thread.repo, thread.number)
    return so_far.replace(
        pull_request=pull.number, pull_request_url=pull.url, draft=pull.draft
    )


def attach_link(
    effect: AttachLink,
    outcome: Outcome,
    to: Destination,
    dependencies: PublisherDependencies,
    so_far: DeliveryResult,
) -> DeliveryResult:
    """Show the pull request beside the ticket, once for the conversation."""
    if so_far.pull_request_url:
        tracker = dependencies.channel.tracker(effect.thread)
        # Another run for the same pull request finds the link by its address.
        title = f"{to.repository.ref.full_name}#{so_far.pull_request}: {outcome.title}"
        key = so_far.pull_request_url
        tracker.attach_link(effect.thread, so_far.pull_request_url, title, key)
    return so_far


def move_ticket(effect: MoveTicket, dependencies: PublisherDependencies, so_far: DeliveryResult) -> DeliveryResult:
    """Bring it to its status; where no way leads there, say so in the result."""
    if effect.with_pull and so_far.pull_request is None:
        return so_far
    try:
        dependencies.channel.tracker(effect.thread).move(effect.thread, effect.status)
    except _NOT_WORTH_RETRYING as error:
        log.warning("ticket_not_moved", key=effect.thread.id, error=str(error))
        remark = f"{effect.thread.name} stays where it is: {error}"
        return so_far.replace(remarks=(*so_far.remarks, remark))
    return so_far


def ask_privately(
    effect: AskPrivately, to: Destination, dependencies: PublisherDependencies, so_far: DeliveryResult
) -> DeliveryResult:
    _tell_requester(Invitation(text=effect.text, offers=effect.offers), to, dependencies)
    return so_far


def send_invitation(
    effect: Invite, to: Destination, dependencies: PublisherDependencies, so_far: DeliveryResult
) -> DeliveryResult:
    """Send a link that is made only now: it must not lie about anywhere."""
    make = dependencies.renew if effect.renews else dependencies.invite
    invitation = make(to.asked_by or to.requester)
    if invitation is not None:
        _tell_requester(invitation, to, dependencies)
    return so_far


def _tell_requester(told: Invitation, to: Destination, dependencies: PublisherDependencies) -> None:
    """Tell the requester alone; where there is no way, say so, and nothing of it."""
    asked = to.asked_by or to.requester
    try:
        dependencies.channel.tell_privately(to.thread, asked, told.text, told.offers)
    except InvalidRequestError as error:
        log.warning("not_told_privately", thread=str(to.thread), error=str(error))
        text = f"{to.caller} {_NO_PRIVATE_WAY}\n\n{_no_private_way_mark(to)}"
        if dependencies.channel.find_post(to.thread, _no_private_way_mark(to)) is None:
            dependencies.channel.post(to.thread, text)


def _no_private_way_mark(to: Destination) -> str:
    return f"<!-- patchwright:no-private-way run={to.frame.run_id} -->"


_NO_PRIVATE_WAY: Final = (
    "I have to ask you something in private, and found no way to do that. An "
    "administrator can let me send you messages here, or say who you are in "
    "`accounts.map`; then ask again."
)
