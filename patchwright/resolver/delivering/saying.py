"""Tell the thread how a run ended: one comment, edited in place."""

from dataclasses import dataclass

from patchwright.core.channel import Channel, Offers
from patchwright.core.errors import NotFoundError
from patchwright.core.settings.repository import Delivery as Wish
from patchwright.core.types.threads import TalkThread, ThreadRef
from patchwright.core.types.work import Outcome
from patchwright.resolver.delivering.destination import Destination, Means
from patchwright.resolver.delivering.handing import with_patch
from patchwright.resolver.messages.ending import final_comment
from patchwright.resolver.messages.offers import offers_at_end
from patchwright.resolver.messages.status import Delivered, mark
from patchwright.resolver.pinging import ping_mark, ping_text


def say(
    outcome: Outcome, to: Destination, means: Means, so_far: Delivered
) -> Delivered:
    """Edit the run's comment; where there is none, look again before posting."""
    if to.config.pr is not Wish.NONE:
        so_far = with_patch(outcome, means, so_far)
    text = final_comment(outcome, so_far, to.frame, to.last)
    if isinstance(to.thread, TalkThread) and not to.thread.has_begun:
        # Nobody else has seen what was asked, either.
        means.channel.tell_privately(to.thread, to.asked_by or to.requester, text)
        return so_far
    message = Message(text, offers_at_end(outcome, so_far))
    put(message, to.thread, to.status_post, mark(to.frame.run_id), means.channel)
    return so_far


def ping(
    outcome: Outcome, to: Destination, means: Means, so_far: Delivered
) -> Delivered:
    """Call the requester, unless an earlier try has done it."""
    mark_of_it = ping_mark(outcome, to.frame.run_id)
    if means.channel.find_post(to.thread, mark_of_it) is None:
        text = ping_text(outcome, so_far, to.caller, to.frame)
        means.channel.post(to.thread, text)
    return so_far


@dataclass(frozen=True)
class Message:
    text: str
    offers: Offers = ()


def put(
    message: Message, thread: ThreadRef, post_id: str, own_mark: str, channel: Channel
) -> None:
    """Edit the post that says it, wherever that is; or else add one."""
    if post_id and _edit(message, thread, post_id, channel):
        return
    lost = channel.find_post(thread, own_mark)
    if not (lost and _edit(message, thread, lost, channel)):
        channel.post(thread, message.text, message.offers)


def _edit(message: Message, thread: ThreadRef, post_id: str, channel: Channel) -> bool:
    """Replace a comment; return False if somebody has deleted it."""
    try:
        channel.edit(thread, post_id, message.text, message.offers)
    except NotFoundError:
        return False
    return True
