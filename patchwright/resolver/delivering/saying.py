"""Tell the thread how a run ended: one comment, edited in place."""

from patchwright.core.errors import NotFoundError
from patchwright.core.settings.repository import Delivery as Wish
from patchwright.core.types.threads import ThreadRef
from patchwright.core.types.work import Outcome
from patchwright.resolver.delivering.destination import Destination, Means
from patchwright.resolver.delivering.handing import with_patch
from patchwright.resolver.messages.ending import final_comment
from patchwright.resolver.messages.status import Delivered, mark
from patchwright.resolver.pinging import ping_mark, ping_text


def say(
    outcome: Outcome, to: Destination, means: Means, so_far: Delivered
) -> Delivered:
    """Edit the run's comment; where there is none, look again before posting."""
    if to.config.pr is not Wish.NONE:
        so_far = with_patch(outcome, means, so_far)
    text = final_comment(outcome, so_far, to.frame, to.last)
    if to.status_post and _edit(to.thread, to.status_post, text, means):
        return so_far
    lost = means.channel.find_post(to.thread, mark(to.frame.run_id))
    if not (lost and _edit(to.thread, lost, text, means)):
        means.channel.post(to.thread, text)
    return so_far


def ping(
    outcome: Outcome, to: Destination, means: Means, so_far: Delivered
) -> Delivered:
    """Call the requester, unless an earlier try has done it."""
    mark_of_it = ping_mark(outcome, to.frame.run_id)
    if means.channel.find_post(to.thread, mark_of_it) is None:
        text = ping_text(outcome, so_far, to.requester, to.frame)
        means.channel.post(to.thread, text)
    return so_far


def _edit(thread: ThreadRef, post_id: str, text: str, means: Means) -> bool:
    """Replace a comment's text; return False if somebody has deleted it."""
    try:
        means.channel.edit(thread, post_id, text)
    except NotFoundError:
        return False
    return True
