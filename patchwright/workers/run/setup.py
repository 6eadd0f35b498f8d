"""Set up steering and the status comment of a run."""

from functools import partial

import structlog
from pydantic import ValidationError

from patchwright.core.events.log import EventLog
from patchwright.core.settings.repository import RepositoryConfig
from patchwright.core.types.errors import ServiceError
from patchwright.core.types.threads import ForgeThread
from patchwright.resolver.messages.short_status import cross_post_progress
from patchwright.resolver.messages.status import mark, progress_comment
from patchwright.resolver.progress import ProgressTracker
from patchwright.workers.run.admission import policy_with
from patchwright.workers.run.budget import max_raise_usd_of
from patchwright.workers.run.commands import RunDetails
from patchwright.workers.run.permissions import find_permission
from patchwright.workers.run.plan import PLAN_ARTIFACT, RunPlan
from patchwright.workers.run.repository import name_people
from patchwright.workers.run.services import RunServices
from patchwright.workers.run.status import StatusComment, make_message_header
from patchwright.workers.run.steering import Steering
from patchwright.workers.store.job import Job, Lease

log = structlog.get_logger(__name__)


def open_steering(
    services: RunServices, job: Job, lease: Lease, plan: RunPlan, events: EventLog
) -> Steering:
    about = RunDetails(
        frame=plan.frame,
        trigger=job.trigger,
        admitted=plan.admitted,
        sandbox=services.sandboxes.kind,
        keeps_out=plan.openness.keeps_out,
        max_raise_usd=max_raise_usd_of(services.settings.limits),
    )
    return Steering(
        services.channel,
        policy_with(services, plan.config),
        events,
        partial(services.stores.requests.joined, job.id),
        publisher=services.live,
        settle=partial(services.stores.requests.settle, lease),
        about=lambda: about,
        # Asked for each act: who has lost a role must not steer for a while longer.
        permission_of=partial(find_permission, services.code_host.forge),
        find_person=services.chat.find_person,
        named=partial(name_people, services),
        invite=services.chat.invite,
    )


def open_status(services: RunServices, job: Job, plan: RunPlan) -> StatusComment:
    """Post the comment, or take over the one an earlier attempt has made.

    What the agent plans may repeat what was private.
    """
    thread = job.trigger.thread
    hides = isinstance(thread, ForgeThread) and plan.openness.keeps_out
    status = StatusComment(
        services.channel,
        thread,
        plan.frame,
        ProgressTracker(services.sandboxes.kind, services.clock.now()),
        services.clock,
        publisher=services.live,
        write=cross_post_progress if hides else progress_comment,
        shown=plan.config.progress_comment,
    )
    status.begin(plan.status_post)
    return status


def load_plan(services: RunServices, job: Job) -> RunPlan:
    """Return what was fixed about a run, or what can be said without that.

    One that cannot be read must not keep the run from its end.
    """
    stored = services.stores.outcomes.load_artifact(job.id, PLAN_ARTIFACT)
    try:
        return RunPlan.model_validate_json(stored or b"{}")
    except ValidationError as error:
        log.error("plan_unreadable", problems=error.error_count())  # noqa: TRY400 - its text may hold what people wrote
    frame = make_message_header(services, job, RepositoryConfig())
    return RunPlan(frame=frame, status_post=find_earlier_post(services, job))


def find_earlier_post(services: RunServices, job: Job) -> str:
    """Return the status comment of an earlier attempt, empty if it cannot be found."""
    try:
        return services.channel.find_post(job.trigger.thread, mark(job.id)) or ""
    except ServiceError as error:
        log.warning("earlier_status_not_found", reason=error.reason)
        return ""
