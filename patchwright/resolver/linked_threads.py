"""A conversation's other threads: link them, cross-post the status, move tickets."""

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Self

import structlog

from patchwright.core.events.types import Event
from patchwright.core.plugin import TicketMoves
from patchwright.core.types.errors import ServiceError
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.threads import (
    ForgeThread,
    TalkThread,
    ThreadKind,
    ThreadRef,
)
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.types.work import Outcome, service_outcome
from patchwright.resolver.consent import copy_consent, may_join
from patchwright.resolver.messages.result import wants_ping
from patchwright.resolver.messages.short_status import cross_post_progress
from patchwright.resolver.progress import ProgressTracker
from patchwright.resolver.publish.destination import CrossPostTarget
from patchwright.resolver.publish.effects import (
    MoveTicket,
    NotificationPlan,
    StartTicket,
)
from patchwright.resolver.publish.live import without_trace
from patchwright.resolver.repository_references import find_references
from patchwright.resolver.run import Run
from patchwright.resolver.run_plan import (
    EarlyResult,
    MovedResult,
    RunPlan,
    tell_requester,
)
from patchwright.resolver.run_store import LinkedThread, OtherConversation
from patchwright.resolver.services import StepServices
from patchwright.resolver.status_comment import StatusComment
from patchwright.resolver.visibility import may_show_words

_WORKS_IN_PUBLIC = (
    "A run about {name} works already, and everybody can read what it does. It was "
    "told nothing of this. Ask again when it has ended; or answer `share`, after "
    "calling me, if it may be shown."
)


def link_threads(services: StepServices, run: Run) -> OtherConversation | None:
    """Link the threads that the requester names.

    If such a thread belongs to another conversation, return that conversation. The
    requester has passed the access check. Only the requester's own words count here,
    not what others wrote in the thread.
    """
    store, trigger = run.store, run.trigger
    linked = {str(one.ref) for one in store.load_threads()}
    for named in _named(services, trigger):
        found = None if str(named) in linked else _found(services, trigger, named)
        if found is None:
            continue
        other = store.link(found)
        if other is not None and store.find_repository(other) == trigger.home:
            return OtherConversation(named=found, conversation_id=other)
    return None


def move_request(
    services: StepServices, run: Run, there: OtherConversation
) -> MovedResult | EarlyResult | None:
    """Continue in the other conversation; None if the thread has left it."""
    into = there.conversation_id
    joins = may_join(services, run.job, run.plan.openness, into)
    moved = run.store.move(run.trigger, there, joins=joins)
    if moved is not None:
        copy_consent(services, run.job, into)
        return MovedResult(moved)
    is_gone = run.store.find_conversation(there.named) != into
    return None if is_gone or joins else _refuse_to_join(run.trigger, there)


def _refuse_to_join(trigger: Trigger, there: OtherConversation) -> EarlyResult:
    text = _WORKS_IN_PUBLIC.format(name=there.named.name)
    outcome = service_outcome(OutcomeKind.REFUSED, "works-in-public", text)
    return EarlyResult(outcome, (tell_requester(trigger.thread, text),))


def _named(services: StepServices, trigger: Trigger) -> tuple[ThreadRef, ...]:
    """Return the threads on other services that the request names."""
    found = find_references(_texts_of_requester(trigger), services.chat.find_places())
    own = trigger.thread.service
    return tuple(one for one in found.threads if one.service != own)


def _texts_of_requester(trigger: Trigger) -> tuple[str, ...]:
    """Return the requester's own texts; a person who adds a label wrote no text.

    A stranger may have written the issue. A stranger must not choose which other
    threads are read.
    """
    opens = trigger.kind is TriggerKind.BODY_MENTION
    texts = (trigger.title, trigger.body) if opens else ()
    return (*texts, trigger.request)


def _found(
    services: StepServices, trigger: Trigger, named: ThreadRef
) -> ThreadRef | None:
    """Return the thread, if it belongs to the same repository."""
    if not _belongs_to_repository(services, trigger, named):
        return None
    try:
        return services.channel.fetch_opening(named).ref
    except ServiceError:
        return None


def _belongs_to_repository(
    services: StepServices, trigger: Trigger, named: ThreadRef
) -> bool:
    home = trigger.home
    if isinstance(named, ForgeThread):
        return named.repo == home
    # The administrator linked this project to the repository: writers may read it.
    return (
        _repository_of_project(services, named).casefold() == home.full_name.casefold()
    )


def _repository_of_project(services: StepServices, ticket: TalkThread) -> str:
    key = ticket.place.rpartition("/")[2]
    return services.directory.repositories_in(ticket).get(key, "")


log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Ticket:
    """A ticket of a conversation, and the statuses that it comes to."""

    thread: TalkThread
    moves: TicketMoves


Tickets = tuple[Ticket, ...]


def tickets_of(services: StepServices, linked: Iterable[LinkedThread]) -> Tickets:
    """Return the tickets among the threads of a conversation."""
    return tuple(
        Ticket(one.ref, services.directory.ticket_moves_in(one.ref))
        for one in linked
        if isinstance(one.ref, TalkThread) and one.ref.kind is ThreadKind.TICKET
    )


def move_at_start(services: StepServices, run: Run) -> tuple[str, ...]:
    """Move the tickets to the status for work in progress.

    A ticket that cannot be moved does not stop the run. Returns a sentence for each.
    """
    remarks = []
    for one in tickets_of(services, run.store.load_threads()):
        ticket, status = one.thread, one.moves.on_start
        if not status:
            continue
        try:
            services.live.publish(
                StartTicket(thread=ticket, status=status),
                without_trace(
                    partial(services.channel.tracker(ticket).move, ticket, status)
                ),
            )
        except ServiceError as error:
            log.warning("ticket_not_moved", key=ticket.id, error=str(error))
            remarks.append(
                f"{ticket.name} was not moved to {status} when the work began: {error}"
            )
    return tuple(remarks)


def move_after_merge(services: StepServices, run: Run) -> EarlyResult:
    """Return the result of a job that started because our pull request was merged."""
    tickets = tickets_of(services, run.store.load_threads())
    return EarlyResult(
        Outcome(kind=OutcomeKind.NO_CHANGE, reason="merged"),
        tuple(
            MoveTicket(thread=one.thread, status=one.moves.on_merge, with_pull=False)
            for one in tickets
            if one.moves.on_merge
        ),
    )


def plan_notification(
    outcome: Outcome,
    plan: RunPlan,
    trigger: Trigger,
    now: datetime,
    tickets: Tickets = (),
) -> NotificationPlan:
    asked_at = plan.frame.asked_at or now
    return NotificationPlan(
        swaps_labels=bool(plan.frame.label),
        pings=wants_ping(
            outcome,
            trigger.actor,
            is_edit=bool(plan.status_post),
            since_asked_s=(now - asked_at).total_seconds(),
        ),
        check_sha=plan.check_sha,
        mirrors=tuple(one.thread for one in plan.mirrors),
        tickets=tuple(one.thread for one in tickets),
        moves=tuple(
            MoveTicket(thread=one.thread, status=one.moves.on_pull)
            for one in tickets
            if one.moves.on_pull
        ),
        reviews_of=trigger.forge_thread.number if plan.review_threads else None,
    )


@dataclass(frozen=True)
class _CrossPost:
    """A status comment in another thread, and that thread."""

    thread: ThreadRef
    comment: StatusComment


class CrossPosts:
    """The short status comments of a run in other threads; a context manager.

    Our own pull requests get no such comment: they already show their status.
    """

    def __init__(self, services: StepServices, run: Run) -> None:
        self._services, self._store, self._plan = services, run.store, run.plan
        self._own = run.trigger.thread
        self._mirrored = self._open()
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        for one in self._mirrored:
            self._stack.enter_context(one.comment)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def saved(self) -> tuple[CrossPostTarget, ...]:
        """What the delivery needs to know about the comments."""
        return tuple(
            self._as_cross_post(one.thread, one.comment.post_id)
            for one in self._mirrored
        )

    def list_current(self) -> tuple[CrossPostTarget, ...]:
        """Return the cross-posts, and the threads that were linked during the run."""
        begun = {str(one.thread) for one in self._mirrored}
        late = [ref for ref in self._refs() if str(ref) not in begun]
        return (*self.saved, *(self._as_cross_post(ref) for ref in late))

    def show(self, event: Event) -> None:
        for one in self._mirrored:
            one.comment.show(event)

    def _open(self) -> tuple[_CrossPost, ...]:
        """Post each comment, or reuse the comment of an earlier attempt."""
        posted = {str(one.thread): one.post for one in self._plan.mirrors}
        shown = tuple(_CrossPost(ref, self._comment(ref)) for ref in self._refs())
        for one in shown:
            one.comment.begin(posted.get(str(one.thread), ""))
        return shown

    def _refs(self) -> list[ThreadRef]:
        linked = self._store.load_threads()
        others = [one.ref for one in linked if not one.is_own_pull]
        return [ref for ref in others if _gets_cross_posts(ref, self._own)]

    def _as_cross_post(self, ref: ThreadRef, post: str = "") -> CrossPostTarget:
        visibility, own = self._plan.openness, self._own
        shows_words = may_show_words(
            own,
            ref,
            source_is_private=own.is_private or ref.is_private,
            mirror_is_public=not ref.is_private and visibility.is_public,
            consent=visibility.consent,
        )
        handle = self._services.directory.mention_in(ref)
        return CrossPostTarget(
            thread=ref, post=post, shows_words=shows_words, handle=handle
        )

    def _comment(self, ref: ThreadRef) -> StatusComment:
        services = self._services
        handle = services.directory.mention_in(ref)
        frame = self._plan.frame.without_link_key().replace(handle=handle, label="")
        watch = ProgressTracker(services.sandboxes.kind, services.clock.now())
        return StatusComment(
            services.channel,
            ref,
            frame,
            watch,
            services.clock,
            publisher=services.live,
            write=cross_post_progress,
            shown=self._plan.config.progress_comment,
        )


def _gets_cross_posts(ref: ThreadRef, own: ThreadRef) -> bool:
    """Tell whether a linked thread gets a short status comment of the run.

    Threads of the forge get none if the request came from the forge, which links them.
    """
    is_beside = isinstance(ref, ForgeThread) and isinstance(own, ForgeThread)
    return str(ref) != str(own) and not is_beside
