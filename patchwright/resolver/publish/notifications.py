"""Tell the thread, other threads, tickets and people how a run ended."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import structlog

from patchwright.core.channel import Channel, Offers
from patchwright.core.settings.repository import DeliveryMode
from patchwright.core.types.errors import (
    AuthenticationError,
    GitError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    ServiceError,
)
from patchwright.core.types.threads import (
    ForgeThread,
    TalkThread,
    ThreadRef,
)
from patchwright.core.types.work import Outcome
from patchwright.resolver.messages.elements import MAX_SHOWN_BYTES, patch_block
from patchwright.resolver.messages.result import final_comment, ping_mark, ping_text
from patchwright.resolver.messages.short_status import (
    check_at_end,
    cross_post_result,
    labels_at_end,
    offers_at_end,
)
from patchwright.resolver.messages.status import DeliveryResult, mark
from patchwright.resolver.publish.destination import (
    CrossPostTarget,
    Destination,
    Invitation,
    PublisherDependencies,
)
from patchwright.resolver.publish.effects import (
    AskPrivately,
    AttachLink,
    CrossPost,
    FinalMessage,
    Invite,
    MoveTicket,
    ReportCheck,
)


def with_patch(
    outcome: Outcome, dependencies: PublisherDependencies, so_far: DeliveryResult
) -> DeliveryResult:
    """Add the change as text if nothing else shows it and a message can hold it."""
    if not outcome.head_sha or so_far.branch or so_far.patch:
        return so_far
    try:
        code = dependencies.fetch_mirror().objects
        # A merge is more than a patch can say.
        if code.parents_of(outcome.head_sha) != (outcome.base_sha,):
            return so_far
        most = MAX_SHOWN_BYTES + 1
        patch = code.format_patch(outcome.base_sha, outcome.head_sha, most)
    except (GitError, ServiceError):
        return so_far
    return so_far.replace(patch=patch_block(patch))


def post_result(
    effect: FinalMessage,
    outcome: Outcome,
    to: Destination,
    dependencies: PublisherDependencies,
    so_far: DeliveryResult,
) -> DeliveryResult:
    """Edit the run's comment; where there is none, look again before posting."""
    if to.config.deliver is not DeliveryMode.NONE:
        so_far = with_patch(outcome, dependencies, so_far)
    text = final_comment(outcome, so_far, to.frame, to.last)
    if isinstance(to.thread, TalkThread) and not to.thread.has_begun:
        # Nobody else has seen what was asked, either.
        dependencies.channel.tell_privately(
            to.thread, to.asked_by or to.requester, text
        )
        return so_far
    # The answers to a question that is open no more are not offered again.
    answers = effect.offers if outcome.waits else ()
    message = OutgoingMessage(text, (*answers, *offers_at_end(outcome, so_far)))
    edit_or_post(
        message, to.thread, to.status_post, mark(to.frame.run_id), dependencies.channel
    )
    return so_far


def ping_requester(
    outcome: Outcome,
    to: Destination,
    dependencies: PublisherDependencies,
    so_far: DeliveryResult,
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
    message: OutgoingMessage,
    thread: ThreadRef,
    post_id: str,
    own_mark: str,
    channel: Channel,
) -> None:
    """Edit the post that says it, wherever that is; or else add one."""
    if post_id and _edit(message, thread, post_id, channel):
        return
    lost = channel.find_post(thread, own_mark)
    if not (lost and _edit(message, thread, lost, channel)):
        channel.post(thread, message.text, message.offers)


def _edit(
    message: OutgoingMessage, thread: ThreadRef, post_id: str, channel: Channel
) -> bool:
    """Replace a comment; return False if somebody has deleted it."""
    try:
        channel.edit(thread, post_id, message.text, message.offers)
    except NotFoundError:
        return False
    return True


log = structlog.get_logger(__name__)


def report_check(
    effect: ReportCheck,
    outcome: Outcome,
    to: Destination,
    dependencies: PublisherDependencies,
    so_far: DeliveryResult,
) -> DeliveryResult:
    """Report on the commit of the request, and on the new commit."""
    report = check_at_end(outcome, so_far, to.frame, dependencies.clock.now())
    checks = dependencies.forge.checks
    if checks is None:
        return so_far
    written = (so_far.head_sha or outcome.head_sha) if so_far.branch else ""
    with _ignoring_refusals("check_not_reported"):
        for sha in dict.fromkeys(filter(None, (effect.sha, written))):
            checks.report_check(to.repository.ref, sha, report)
    return so_far


def swap_labels(
    outcome: Outcome,
    to: Destination,
    dependencies: PublisherDependencies,
    so_far: DeliveryResult,
) -> DeliveryResult:
    if to.frame.label:
        swap = labels_at_end(to.frame.label, outcome)
        with _ignoring_refusals("labels_not_swapped"):
            dependencies.channel.swap_labels(to.thread, swap.add, swap.remove)
    return so_far


@contextmanager
def _ignoring_refusals(event: str) -> Iterator[None]:
    """Leave it where we have no right to it: it is no part of the result.

    Checks are for Apps alone, and labels for those who may triage.
    """
    try:
        yield
    except (
        AuthenticationError,
        InvalidRequestError,
        NotFoundError,
        PermissionDeniedError,
    ) as error:
        log.info(event, reason=error.reason, error=str(error))


# What asking again would not change.
_NOT_WORTH_RETRYING: Final = (InvalidRequestError, NotFoundError, PermissionDeniedError)


def cross_post(
    effect: CrossPost,
    outcome: Outcome,
    to: Destination,
    dependencies: PublisherDependencies,
    so_far: DeliveryResult,
) -> DeliveryResult:
    known = {str(one.thread): one for one in to.mirrors}
    known_target = known.get(str(effect.thread), CrossPostTarget(thread=effect.thread))
    handle = known_target.handle or to.frame.handle
    frame = to.frame.without_link_key().replace(handle=handle)
    shown = _with_requested_pull(to, dependencies, so_far)
    text = cross_post_result(
        outcome, shown, frame, shows_words=known_target.shows_words, last=to.last
    )
    message = OutgoingMessage(text, offers_at_end(outcome, shown))
    edit_or_post(
        message,
        effect.thread,
        known_target.post,
        mark(frame.run_id),
        dependencies.channel,
    )
    return so_far


def _with_requested_pull(
    to: Destination, dependencies: PublisherDependencies, so_far: DeliveryResult
) -> DeliveryResult:
    """Name the pull request where it was asked for: elsewhere nobody sees which."""
    thread = to.thread
    if so_far.pull_request is not None or not isinstance(thread, ForgeThread):
        return so_far
    if not thread.kind.is_pull:
        return so_far
    pull = dependencies.forge.fetch_pull_request(thread.repo, thread.number)
    return so_far.with_pull(pull)


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
        title = f"{to.repository.ref.full_name}{so_far.pull_name}: {outcome.title}"
        key = so_far.pull_request_url
        tracker.attach_link(effect.thread, so_far.pull_request_url, title, key)
    return so_far


def move_ticket(
    effect: MoveTicket, dependencies: PublisherDependencies, so_far: DeliveryResult
) -> DeliveryResult:
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
    effect: AskPrivately,
    to: Destination,
    dependencies: PublisherDependencies,
    so_far: DeliveryResult,
) -> DeliveryResult:
    _tell_requester(
        Invitation(text=effect.text, offers=effect.offers), to, dependencies
    )
    return so_far


def send_invitation(
    effect: Invite,
    to: Destination,
    dependencies: PublisherDependencies,
    so_far: DeliveryResult,
) -> DeliveryResult:
    """Send a link that is made only now: it must not lie about anywhere."""
    make = dependencies.renew if effect.renews else dependencies.invite
    invitation = make(to.asked_by or to.requester)
    if invitation is not None:
        _tell_requester(invitation, to, dependencies)
    return so_far


def _tell_requester(
    invitation: Invitation, to: Destination, dependencies: PublisherDependencies
) -> None:
    """Tell the requester alone; where there is no way, say so, and nothing of it."""
    asked = to.asked_by or to.requester
    try:
        dependencies.channel.tell_privately(
            to.thread, asked, invitation.text, invitation.offers
        )
    except InvalidRequestError as error:
        log.warning("not_told_privately", thread=str(to.thread), error=str(error))
        text = f"{to.caller} {_NO_PRIVATE_WAY}\n\n{_no_private_way_mark(to)}"
        if dependencies.channel.find_post(to.thread, _no_private_way_mark(to)) is None:
            dependencies.channel.post(to.thread, text)


def _no_private_way_mark(to: Destination) -> str:
    return f"<!-- patchwright:no-private-way run={to.frame.run_id} -->"


_NO_PRIVATE_WAY: Final = (
    "I have a private question for you, but I cannot send you a private message. Ask "
    "whoever runs this Patchwright to allow that, or to link your account. Then ask "
    "again."
)
