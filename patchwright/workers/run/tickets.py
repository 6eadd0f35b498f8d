"""Move the tickets of a conversation as its work goes on."""

from dataclasses import dataclass
from typing import Final

import structlog

from patchwright.core.errors import ServiceError
from patchwright.core.types.threads import TalkThread, ThreadKind
from patchwright.core.types.work import Outcome, OutcomeKind
from patchwright.resolver.effects import MoveTicket
from patchwright.workers.run.services import RunServices
from patchwright.workers.run.wait import EarlyResult
from patchwright.workers.store.job import Job

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Tickets:
    """Those of a conversation, and where they go when there is a pull request."""

    threads: tuple[TalkThread, ...] = ()
    status_on_pull: str = ""


NO_TICKETS: Final = Tickets()


def tickets_of(services: RunServices, job: Job) -> Tickets:
    linked = services.stores.threads.threads_of(job.conversation_id)
    threads = (
        one.ref
        for one in linked
        if isinstance(one.ref, TalkThread) and one.ref.kind is ThreadKind.TICKET
    )
    return Tickets(tuple(threads), services.settings.jira.transitions.on_pr)


def move_at_start(services: RunServices, job: Job) -> tuple[str, ...]:
    """Show on the tickets that they are worked on; the work does not wait for that.

    Returns a sentence for each that could not be moved.
    """
    status = services.settings.jira.transitions.on_start
    if not status:
        return ()
    remarks = []
    for ticket in tickets_of(services, job).threads:
        try:
            services.channel.tracker(ticket).move(ticket, status)
        except ServiceError as error:
            log.warning("ticket_not_moved", key=ticket.id, error=str(error))
            remarks.append(
                f"{ticket.name} was not moved to {status} when the work began: {error}"
            )
    return tuple(remarks)


def move_after_merge(services: RunServices, job: Job) -> EarlyResult:
    """Return how a job ends that there is since our pull request was merged."""
    status = services.settings.jira.transitions.on_merge
    tickets = tickets_of(services, job).threads if status else ()
    return EarlyResult(
        Outcome(kind=OutcomeKind.NO_CHANGE, reason="merged"),
        tuple(
            MoveTicket(thread=one, status=status, with_pull=False) for one in tickets
        ),
    )
