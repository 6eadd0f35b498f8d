"""The steps of a run up to its work: from the request until the agent may begin."""

from dataclasses import replace

from patchwright.core.errors import LeaseLostError, PatchwrightError, ServiceError
from patchwright.core.types.threads import TalkThread
from patchwright.core.types.triggers import TriggerKind
from patchwright.resolver.access import admit_request, fetch_config, last_run
from patchwright.resolver.admission import Declined
from patchwright.resolver.consent import find_visibility
from patchwright.resolver.publish import live
from patchwright.resolver.repository_resolution import ask_requester
from patchwright.resolver.run import (
    End,
    Run,
    answered_up_to,
    decline,
    end_early,
    end_if,
    fail,
    follow,
    skipped_on_resume,
)
from patchwright.resolver.run_plan import (
    AttemptResult,
    MovedResult,
)
from patchwright.resolver.sandboxes import check_disk_space
from patchwright.resolver.visibility import Question
from patchwright.workers.run.commands import answer_command, answer_without_rights
from patchwright.workers.run.linked_threads import (
    CrossPosts,
    link_threads,
    move_after_merge,
    move_at_start,
    move_request,
)
from patchwright.workers.run.resolution import WORK_STEPS
from patchwright.workers.run.services import RunServices
from patchwright.workers.run.setup import (
    list_cross_posts,
    open_status,
)
from patchwright.workers.run.status import make_message_header, without_ticket_key


def move_tickets_after_merge(services: RunServices, run: Run) -> Run | End:
    if run.trigger.kind is not TriggerKind.MERGED:
        return run
    return end_early(services, run, move_after_merge(services, run.job))


@skipped_on_resume
def answer_anyone(services: RunServices, run: Run) -> Run | End:
    """Answer what needs no run and no rights, where no code lives."""
    if not isinstance(run.trigger.thread, TalkThread):
        return run
    answered = answer_without_rights(services, run.job)
    return run if answered is None else end_early(services, run, answered)


@skipped_on_resume
def read_configuration(services: RunServices, run: Run) -> Run | End:
    """Read the repository's configuration; without it nothing can be judged.

    Only who may ask by the service's own rules is told that it failed: two bots must
    not keep each other busy.
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


@skipped_on_resume
def answer_if_known(services: RunServices, run: Run) -> Run | End:
    """Answer a command that needs no run."""
    last = last_run(run)
    known = services.overrides.answer
    answered = known or answer_command(run.trigger, run.plan.frame.handle, last)
    return end_if(services, run, answered)


@skipped_on_resume
def link_conversation(services: RunServices, run: Run) -> Run | End:
    """Make one conversation of all the threads that the request names."""
    return replace(run, other=link_threads(services, run.job, run.lease))


@skipped_on_resume
def check_visibility(services: RunServices, run: Run) -> Run | End:
    """Ask before anything private may be shown to everybody."""
    try:
        found = find_visibility(services, run)
    except ServiceError as error:
        return fail(services, run, error)
    if isinstance(found, Question):
        return end_early(services, run, ask_requester(run, found))
    frame = without_ticket_key(run.plan.frame, found)
    return replace(run, plan=run.plan.replace(openness=found, frame=frame))


@skipped_on_resume
def move_to_other_conversation(services: RunServices, run: Run) -> Run | End:
    """Go on in the conversation of a named thread, where it may be shown there."""
    if run.other is None:
        return run
    moved = move_request(services, run.job, run.lease, run.other, run.plan.openness)
    if moved is None:
        # It was moved on meanwhile: look where it is.
        again = (link_conversation, check_visibility, move_to_other_conversation)
        return follow(services, run, again)
    if isinstance(moved, MovedResult):
        return moved
    return end_early(services, run, moved)


@skipped_on_resume
def require_disk_space(services: RunServices, run: Run) -> Run | End:
    return end_if(services, run, check_disk_space(services.settings))


@skipped_on_resume
def acknowledge(services: RunServices, run: Run) -> Run | End:
    if not run.trigger.kind.is_automatic:
        live.acknowledge(services.live, services.channel, run.trigger)
    return run


@skipped_on_resume
def move_tickets(services: RunServices, run: Run) -> Run | End:
    remarks = move_at_start(services, run.job)
    return replace(run, plan=run.plan.replace(remarks=remarks))


def show_status(services: RunServices, run: Run) -> Run | End:
    status = open_status(services, run.job, run.plan)
    plan = run.plan.replace(status_post=status.post_id)
    return replace(run, status=status, plan=plan)


def show_cross_posts(services: RunServices, run: Run) -> Run | End:
    """Keep the other threads of the conversation up to date as well."""
    cross_posts = CrossPosts(services, run.job, run.plan)
    plan = run.plan.replace(mirrors=cross_posts.saved)
    return replace(run, cross_posts=cross_posts, plan=plan)


def work(services: RunServices, run: Run) -> Run | End:
    """Have the agent resolve it, and show how far that is."""
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
    done = done.with_last(status.last, list_cross_posts(cross_posts))
    return done.read(answered_up_to(services, run))
