"""The steps of a run in order, from the request to the outcome."""

from dataclasses import replace

import structlog

from patchwright.core.agent.run_log import ReleaseSignal
from patchwright.core.settings.repository import RepositoryConfig
from patchwright.core.types.errors import LeaseLostError, PatchwrightError, ServiceError
from patchwright.core.types.threads import TalkThread
from patchwright.core.types.triggers import TriggerKind
from patchwright.resolver.access import admit, admit_request, fetch_config, last_run
from patchwright.resolver.admission import Declined
from patchwright.resolver.attempt import (
    give_up_if_lost,
    internal_failure,
    mark_start,
    stop_if_answered_before_move,
    stop_if_cancelled,
    stop_if_closed,
)
from patchwright.resolver.commands import answer_command, answer_without_rights
from patchwright.resolver.consent import find_visibility
from patchwright.resolver.job import Job
from patchwright.resolver.linked_threads import (
    CrossPosts,
    link_threads,
    move_after_merge,
    move_at_start,
    move_request,
)
from patchwright.resolver.publish import live
from patchwright.resolver.publish.destination import CrossPostTarget
from patchwright.resolver.push_proof import prove_new_head
from patchwright.resolver.repository_resolution import (
    acknowledge_in_chat,
    ask_requester,
    find_repository,
    find_requester,
    require_sign_in,
    start_thread,
)
from patchwright.resolver.round_trigger import skip_round_if_not_due
from patchwright.resolver.run import (
    CrossPostsView,
    End,
    Run,
    Step,
    answered_up_to,
    decline,
    end,
    end_early,
    end_if,
    fail,
    follow,
    skipped_on_resume,
)
from patchwright.resolver.run_plan import (
    AttemptResult,
    MovedResult,
    RunPlan,
)
from patchwright.resolver.run_store import RunStore
from patchwright.resolver.services import StepServices
from patchwright.resolver.set_up.sandboxes import check_disk_space
from patchwright.resolver.status_comment import (
    make_message_header,
    open_status,
    without_ticket_key,
)
from patchwright.resolver.visibility import Question
from patchwright.resolver.work import WORK_STEPS

log = structlog.get_logger(__name__)


def move_tickets_after_merge(services: StepServices, run: Run) -> Run | End:
    if run.trigger.kind is not TriggerKind.MERGED:
        return run
    return end_early(services, run, move_after_merge(services, run))


@skipped_on_resume
def answer_anyone(services: StepServices, run: Run) -> Run | End:
    """Answer commands that need no run and no permission, in a chat or a ticket."""
    if not isinstance(run.trigger.thread, TalkThread):
        return run
    answered = answer_without_rights(services, run)
    return run if answered is None else end_early(services, run, answered)


@skipped_on_resume
def read_configuration(services: StepServices, run: Run) -> Run | End:
    """Read the repository's configuration; without it the run ends.

    The error is shown only to people whom the service's own rules allow: two bots must
    not answer each other without end.
    """
    try:
        config = fetch_config(services, run.trigger)
    except ServiceError as error:
        judged = admit_request(services, run)
        if isinstance(judged, Declined):
            return decline(services, run, judged)
        return fail(services, run, error, quiet=run.trigger.kind.is_automatic)
    frame = make_message_header(services, run.job, config)
    return replace(run, plan=run.plan.replace(config=config, frame=frame))


def prove_after_push(services: StepServices, run: Run) -> Run | End:
    """Do all that is to be done after a push; no agent works then."""
    is_push = run.trigger.kind is TriggerKind.PUSHED
    return prove_new_head(services, run) if is_push else run


@skipped_on_resume
def answer_if_known(services: StepServices, run: Run) -> Run | End:
    """Answer a command that needs no run."""
    last = last_run(run)
    answer = services.overrides.answer
    answered = answer or answer_command(run.trigger, run.plan.frame.handle, last)
    return end_if(services, run, answered)


@skipped_on_resume
def link_conversation(services: StepServices, run: Run) -> Run | End:
    """Link all threads that the request names to one conversation."""
    return replace(run, other=link_threads(services, run))


@skipped_on_resume
def check_visibility(services: StepServices, run: Run) -> Run | End:
    """Ask before private words may be shown in public."""
    try:
        found = find_visibility(services, run)
    except ServiceError as error:
        return fail(services, run, error)
    if isinstance(found, Question):
        return end_early(services, run, ask_requester(run, found))
    frame = without_ticket_key(run.plan.frame, found)
    return replace(run, plan=run.plan.replace(openness=found, frame=frame))


@skipped_on_resume
def move_to_other_conversation(services: StepServices, run: Run) -> Run | End:
    """Move the request to the conversation of a named thread, if that is allowed."""
    if run.other is None:
        return run
    moved = move_request(services, run, run.other)
    if moved is None:
        # The thread has moved meanwhile: search for it again.
        again = (link_conversation, check_visibility, move_to_other_conversation)
        return follow(services, run, again)
    if isinstance(moved, MovedResult):
        return moved
    return end_early(services, run, moved)


@skipped_on_resume
def require_disk_space(services: StepServices, run: Run) -> Run | End:
    return end_if(services, run, check_disk_space(services.settings, services.clock))


@skipped_on_resume
def acknowledge(services: StepServices, run: Run) -> Run | End:
    if not run.trigger.kind.is_automatic:
        live.acknowledge(services.live, services.channel, run.trigger)
    return run


@skipped_on_resume
def move_tickets(services: StepServices, run: Run) -> Run | End:
    remarks = move_at_start(services, run)
    return replace(run, plan=run.plan.replace(remarks=remarks))


def show_status(services: StepServices, run: Run) -> Run | End:
    status = open_status(services, run.job, run.plan)
    plan = run.plan.replace(status_post=status.post_id)
    return replace(run, status=status, plan=plan)


def show_cross_posts(services: StepServices, run: Run) -> Run | End:
    """Show the status in the other threads of the conversation too."""
    cross_posts = CrossPosts(services, run)
    plan = run.plan.replace(mirrors=cross_posts.saved)
    return replace(run, cross_posts=cross_posts, plan=plan)


def work(services: StepServices, run: Run) -> Run | End:
    """Let the agent resolve the task, and show the progress."""
    status, cross_posts = run.status, run.cross_posts
    if status is None or cross_posts is None:
        raise ValueError("a run shows its status before it works")
    done: Run | End
    with status, cross_posts:
        try:
            with (
                run.log.subscribe(status.show, run.start_id),
                run.log.subscribe(cross_posts.show, run.start_id),
            ):
                done = follow(services, run, WORK_STEPS)
        except LeaseLostError:
            raise
        except PatchwrightError as error:
            done = fail(services, run, error)
    if not isinstance(done, AttemptResult):
        raise TypeError("the last step of the work ends it")
    done = done.with_last(status.last, _list_cross_posts(cross_posts))
    return done.read(answered_up_to(services, run))


def _list_cross_posts(cross_posts: CrossPostsView) -> tuple[CrossPostTarget, ...]:
    """Return the threads to cross-post to; an error here must not lose the work."""
    try:
        return cross_posts.list_current()
    except LeaseLostError:
        raise
    except Exception:  # whatever is wrong with the linked threads
        log.exception("mirrors_not_read")
        return cross_posts.saved


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
    prove_after_push,
    admit,
    require_sign_in,
    answer_if_known,
    stop_if_closed,
    stop_if_answered_before_move,
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


def open_run(
    services: StepServices,
    job: Job,
    store: RunStore,
    attempt: int,
    release_signal: ReleaseSignal,
) -> Run:
    """Return the data of an attempt at its start."""
    return Run(
        job,
        attempt,
        store,
        store.open_log(),
        release_signal,
        RunPlan(frame=make_message_header(services, job, RepositoryConfig())),
        store.load_requests(),
    )


def run_job(services: StepServices, run: Run, steps: tuple[Step, ...] = STEPS) -> End:
    """Take each step until one ends the run; raises `LeaseLostError`."""
    for step in steps:
        found = _take(step, services, run)
        if not isinstance(found, Run):
            return found
        run = found
    raise ValueError("the last step ends every run")


def _take(step: Step, services: StepServices, run: Run) -> Run | End:
    try:
        return step(services, run)
    except LeaseLostError:
        raise
    except (
        Exception
    ):  # the edge of a run: the thread must get a message after any error
        log.exception("run_broke")
        return end(services, run, internal_failure(run.job.id))
