"""Decide where it is shown how a job ended, besides its one comment."""

from datetime import datetime

from patchwright.core.types.triggers import Trigger
from patchwright.core.types.work import Outcome
from patchwright.resolver.effects import NotificationPlan
from patchwright.resolver.pinging import wants_ping
from patchwright.workers.run.plan import RunPlan
from patchwright.workers.run.tickets import NO_TICKETS, Tickets


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
