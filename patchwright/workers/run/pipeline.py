"""The first half of a job: its steps in order, from the request to the outcome."""

from collections.abc import Callable

import structlog

from patchwright.core.agent.run_log import ReleaseSignal
from patchwright.core.errors import LeaseLostError
from patchwright.core.settings.repository import RepositoryConfig
from patchwright.resolver.access import admit
from patchwright.resolver.attempt import (
    give_up_if_lost,
    mark_start,
    stop_if_cancelled,
    stop_if_closed,
)
from patchwright.resolver.job import Job, Lease
from patchwright.resolver.repository_resolution import (
    acknowledge_in_chat,
    find_repository,
    find_requester,
    start_thread,
)
from patchwright.resolver.round_trigger import skip_round_if_not_due
from patchwright.resolver.run import End, Run, end
from patchwright.resolver.run_plan import RunPlan
from patchwright.workers.run.recovery import internal_failure
from patchwright.workers.run.services import RunServices
from patchwright.workers.run.status import make_message_header
from patchwright.workers.run.steps import (
    acknowledge,
    answer_anyone,
    answer_if_known,
    check_visibility,
    link_conversation,
    move_tickets,
    move_tickets_after_merge,
    move_to_other_conversation,
    read_configuration,
    require_disk_space,
    show_cross_posts,
    show_status,
    work,
)

Step = Callable[[RunServices, Run], Run | End]

STEPS: tuple[Step, ...] = (
    mark_start,
    give_up_if_lost,
    move_tickets_after_merge,
    stop_if_cancelled,
    answer_anyone,
    acknowledge_in_chat,
    start_thread,
    find_requester,
    find_repository,
    read_configuration,
    admit,
    answer_if_known,
    stop_if_closed,
    skip_round_if_not_due,
    link_conversation,
    check_visibility,
    move_to_other_conversation,
    require_disk_space,
    acknowledge,
    move_tickets,
    show_status,
    show_cross_posts,
    work,
)

log = structlog.get_logger(__name__)


def open_run(
    services: RunServices, job: Job, lease: Lease, release_signal: ReleaseSignal
) -> Run:
    """Return what is known of an attempt when it starts."""
    store = services.open_store(job, lease)
    return Run(
        job,
        lease,
        store,
        store.open_log(),
        release_signal,
        RunPlan(frame=make_message_header(services, job, RepositoryConfig())),
        store.load_requests(),
    )


def run_job(services: RunServices, run: Run, steps: tuple[Step, ...] = STEPS) -> End:
    """Take each step until one ends the run; raises `LeaseLostError`."""
    for step in steps:
        found = _take(step, services, run)
        if not isinstance(found, Run):
            return found
        run = found
    raise ValueError("the last step ends every run")


def _take(step: Step, services: RunServices, run: Run) -> Run | End:
    try:
        return step(services, run)
    except LeaseLostError:
        raise
    except Exception:  # the edge of a run: whatever broke, the thread is told
        log.exception("run_broke")
        return end(services, run, internal_failure(run.job.id))
