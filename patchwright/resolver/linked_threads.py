"""A conversation's other threads: link them, cross-post the status, move tickets."""

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final, Self

import structlog

from patchwright.core.events.types import Event
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
    """Tie what the requester names; where that has a conversation, return it.

    Whoever asks was admitted to the repository. What they say counts here, and not
    what others have written around it.
    """
    store, trigger = run.store, run.trigger
    known = {str(one.ref) for one in store.load_threads()}
    for named in _named(services, trigger):
        found = None if str(named) in known else _found(services, trigger, named)
        if found is None:
            continue
        other = store.link(found)
        if other is not None and store.find_repository(other) == trigger.home:
            return OtherConversation(named=found, conversation_id=other)
    return None


def move_request(
    services: StepServices, run: Run, there: OtherConversation
) -> MovedResult | EarlyResult | None:
    """Go on in the other conversation; None if the thread is not there any more."""
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
    """Return what the request names on other services than its own."""
    found = find_references(_texts_of_requester(trigger), services.chat.find_places())
    own = trigger.thread.service
    return tuple(one for one in found.threads if one.service != own)


def _texts_of_requester(trigger: Trigger) -> tuple[str, ...]:
    """Return what the requester has said; who puts a label on has not said a word.

    The text of an issue may be a stranger's, who must not choose what else is read.
    """
    opens = trigger.kind is TriggerKind.BODY_MENTION
    said = (trigger.title, trigger.body) if opens else ()
    return (*said, trigger.request)


def _found(
    services: StepServices, trigger: Trigger, named: ThreadRef
) -> ThreadRef | None:
    """Return the thread as it is, if it belongs to the same repository."""
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
    # Who may write to a repository may read what an administrator says belongs to it.
    return (
        _repository_of_project(services, named).casefold() == home.full_name.casefold()
    )


def _repository_of_project(services: StepServices, ticket: TalkThread) -> str:
    key = ticket.place.rpartition("/")[2]
    return services.directory.repositories_in(ticket).get(key, "")


log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Tickets:
    """Those of a conversation, and where they go when there is a pull request."""

    threads: tuple[TalkThread, ...] = ()
    status_on_pull: str = ""


NO_TICKETS: Final = Tickets()


def tickets_of(services: StepServices, linked: Iterable[LinkedThread]) -> Tickets:
    """Return the tickets among the threads of a conversation."""
    threads = (
        one.ref
        for one in linked
        if isinstance(one.ref, TalkThread) and one.ref.kind is ThreadKind.TICKET
    )
    return Tickets(tuple(threads), services.directory.ticket_moves.on_pull)


def move_at_start(services: StepServices, run: Run) -> tuple[str, ...]:
    """Show on the tickets that they are worked on; the work does not wait for that.

    Returns a sentence for each that could not be moved.
    """
    status = services.directory.ticket_moves.on_start
    if not status:
        return ()
    remarks = []
    for ticket in tickets_of(services, run.store.load_threads()).threads:
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
    """Return how a job ends that there is since our pull request was merged."""
    status = services.directory.ticket_moves.on_merge
    linked = run.store.load_threads() if status else ()
    tickets = tickets_of(services, linked).threads
    return EarlyResult(
        Outcome(kind=OutcomeKind.NO_CHANGE, reason="merged"),
        tuple(
            MoveTicket(thread=one, status=status, with_pull=False) for one in tickets
        ),
    )


def plan_notification(
    outcome: Outcome,
    plan: RunPlan,
    trigger: Trigger,
    now: datetime,
    tickets: Tickets = NO_TICKETS,
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
        tickets=tickets.threads,
        status_on_pull=tickets.status_on_pull,
        reviews_of=trigger.forge_thread.number if plan.review_threads else None,
    )


@dataclass(frozen=True)
class _CrossPost:
    """A status comment elsewhere, and where that is."""

    thread: ThreadRef
    comment: StatusComment


class CrossPosts:
    """The short status comments of a run; a context, as each of them is.

    Our own pull requests have none: they show what becomes of them in their own ways.
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
        """What their delivery needs of them."""
        return tuple(
            self._as_cross_post(one.thread, one.comment.post_id)
            for one in self._mirrored
        )

    def list_current(self) -> tuple[CrossPostTarget, ...]:
        """Return those, and the threads that were tied while the run worked."""
        begun = {str(one.thread) for one in self._mirrored}
        late = [ref for ref in self._refs() if str(ref) not in begun]
        return (*self.saved, *(self._as_cross_post(ref) for ref in late))

    def show(self, event: Event) -> None:
        for one in self._mirrored:
            one.comment.show(event)

    def _open(self) -> tuple[_CrossPost, ...]:
        """Post each of them, or take over what an earlier attempt has posted."""
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
            source_is_private=any(isinstance(one, TalkThread) for one in (own, ref)),
            mirror_is_public=isinstance(ref, ForgeThread) and visibility.is_public,
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
    """Tell whether a thread gets a short status of a run that another one asked for.

    What happens beside the code is linked there by the forge itself.
    """
    is_beside = isinstance(ref, ForgeThread) and isinstance(own, ForgeThread)
    return str(ref) != str(own) and not is_beside
