"""Tell the thread how a run ended: one comment, edited in place."""

from dataclasses import dataclass

from patchwright.core.channel import Channel, Offers
from patchwright.core.errors import NotFoundError
from patchwright.core.settings.repository import DeliveryMode as Wish
from patchwright.core.types.threads import TalkThread, ThreadRef
from patchwright.core.types.work import Outcome
from patchwright.resolver.delivering.destination import Destination, PublisherDependencies
from patchwright.resolver.delivering.handing import with_patch
from patchwright.resolver.messages.ending import final_comment
from patchwright.resolver.messages.offers import offers_at_end
from patchwright.resolver.messages.status import DeliveryResult, mark
from patchwright.resolver.pinging import ping_mark, ping_text


def post_result(
    outcome: Outcome, to: Destination, dependencies: PublisherDependencies, so_far: DeliveryResult
) -> DeliveryResult:
    """Edit the run's comment; where there is none, look again before posting."""
    if to.config.pr is not Wish.NONE:
        so_far = with_patch(outcome, dependencies, so_far)
    text = final_comment(outcome, so_far, to.frame, to.last)
    if isinstance(to.thread, TalkThread) and not to.thread.has_begun:
        # Nobody else has seen what was asked, either.
        dependencies.channel.tell_privately(to.thread, to.asked_by or to.requester, text)
        return so_far
    message = OutgoingMessage(text, offers_at_end(outcome, so_far))
    edit_or_post(message, to.thread, to.status_post, mark(to.frame.run_id), dependencies.channel)
    return so_far


def ping_requester(
    outcome: Outcome, to: Destination, dependencies: PublisherDependencies, so_far: DeliveryResult
) -> DeliveryResult:
    """Call the requester, unless an earlier try has done it."""
    mark_of_it = ping_mark(outcome, to.frame.run_id)
    if dependencies.channel.find_post(to.thread, mark_of_it) is None:
        text = ping_text(outcome, so_far, to.caller, to.frame)
        dependencies.channel.post(to.thread, text)
    return so_far


@dataclass(frozen=True)
class OutgoingMessage:
    text: str
    offers: Offers = ()


def edit_or_post(
    message: OutgoingMessage, thread: ThreadRef, post_id: str, own_mark: str, channel: Channel
) -> None:
    """Edit the post that says it, wherever that is; or else add one."""
    if post_id and _edit(message, thread, post_id, channel):
        return
    lost = channel.find_post(thread, own_mark)
    if not (lost and _edit(message, thread, lost, channel)):
        channel.post(thread, message.text, message.offers)


def _edit(message: OutgoingMessage, thread: ThreadRef, post_id: str, channel: Channel) -> bool:
    """Replace a comment; return False if somebody has deleted it."""
    try:
        channel.edit(thread, post_id, message.text, message.offers)
    except NotFoundError:
        return False
    return True
