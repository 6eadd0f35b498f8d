"""The work of a run: read its threads, write the task, and let the agent resolve it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import structlog

from patchwright.core.events.actions import Message
from patchwright.core.events.payload import AgentState
from patchwright.core.events.state import WaitingState
from patchwright.core.llm.model import Image
from patchwright.core.settings.repository import ContextFrom
from patchwright.core.types.errors import ServiceError
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import ForgeThread, Thread, ThreadRef
from patchwright.core.types.triggers import Trigger
from patchwright.core.types.work import Outcome, Task
from patchwright.integrations.git.objects import ObjectStore
from patchwright.resolver.access import find_permission
from patchwright.resolver.configuration import apply_configuration, commit_author_of
from patchwright.resolver.consent import (
    PrivateTextRedaction,
    find_ticket_key,
    with_name,
    with_provenance,
)
from patchwright.resolver.context.linked_threads import read_linked_threads
from patchwright.resolver.context.repository_files import RepositoryLibrary
from patchwright.resolver.context.thread_history import (
    FilteredThreads,
    filter_comments,
    has_comments,
)
from patchwright.resolver.messages.pull_request import (
    answer_requesting_threads,
    unanswered_note,
)
from patchwright.resolver.preparation import (
    PreparationRequest,
    Prepared,
    fetch_mirror,
    fetch_thread,
    prepare,
)
from patchwright.resolver.proof.evidence import earlier_commands
from patchwright.resolver.resolve import resolve
from patchwright.resolver.round_trigger import find_competing_pull_request
from patchwright.resolver.run import End, Run, Step, skipped_on_resume
from patchwright.resolver.run_plan import PLAN_ARTIFACT, AttemptResult, RunPlan
from patchwright.resolver.run_store import (
    StoredCheckpoints,
    clean_thread,
    keep_images,
    load_images,
    pack_change,
)
from patchwright.resolver.services import RunDependencies, StepServices
from patchwright.resolver.set_up.cache import name_repository, open_set_up_cache
from patchwright.resolver.set_up.plan import with_inferred_set_up
from patchwright.resolver.set_up.sandboxes import sandbox_spec
from patchwright.resolver.status_comment import begin_check
from patchwright.resolver.steering import is_stop, open_steering, with_follow_ups
from patchwright.resolver.triage import (
    TriageQuestion,
    has_asked,
    has_substance,
    needs_input_outcome,
    triage,
)
from patchwright.resolver.visibility import privacy_note

log = structlog.get_logger(__name__)


def read_threads(services: StepServices, run: Run) -> FilteredThreads:
    """Read the threads of a run, as they were when its job was created."""
    trigger, at = run.trigger, run.job.created_at
    thread = fetch_thread(services.channel, trigger, at)
    tied = read_linked_threads(services.channel, _other_threads(run), at)
    clean = [clean_thread(run.store.redact, one) for one in (thread, *tied)]
    return _filter_threads(services, trigger, clean, run.plan.config.context_from)


def _filter_threads(
    services: StepServices,
    trigger: Trigger,
    threads: Sequence[Thread],
    rule: ContextFrom | None,
) -> FilteredThreads:
    """Return the threads with only the comments that the run's agent may read.

    Without a rule it is "write" where code lives. In a chat or a ticket whoever can
    write is let in by others, and is read.
    """

    def ask(author: Actor) -> Permission | None:
        person = services.chat.find_person(author)
        if person is None:
            return None
        return find_permission(services.code_host.forge, trigger.home, person)

    chosen = [one for one in threads if rule or isinstance(one.ref, ForgeThread)]
    if rule == "all-marked" or not any(map(has_comments, chosen)):
        return FilteredThreads(threads=tuple(threads))
    own = (trigger.actor, trigger.asker, *_ourselves(services))
    found = filter_comments(chosen, rule or "write", own, ask)
    by_ref = {one.ref: one for one in found.threads}
    return found.replace(threads=tuple(by_ref.get(one.ref, one) for one in threads))


def _ourselves(services: StepServices) -> tuple[Actor, ...]:
    try:
        found = services.code_host.fetch_identity()
    except ServiceError as error:
        log.warning("own_identity_unknown", reason=error.reason)
        return ()
    return (found,) if found else ()


@skipped_on_resume
def read_conversation(services: StepServices, run: Run) -> Run | End:
    """Read the threads of the conversation, as they were at the time of the request."""
    linked = run.store.load_threads()
    run = replace(run, linked=linked)
    return replace(run, filtered_threads=read_threads(services, run))


_ASKED_BACK: Final = "asked-back"


@skipped_on_resume
def ask_back(services: StepServices, run: Run) -> Run | End:
    """Ask for missing information in the request, once in a thread, and wait for it."""
    thread, *tied = _filtered_threads(run).threads
    judged = triage(thread, run.trigger, tied)
    asks_back = services.settings.agent.triage and not run.trigger.kind.is_automatic
    if (
        not (asks_back and isinstance(judged, TriageQuestion))
        or has_asked(services.channel, thread.ref)
        or _is_answered(services, run)
    ):
        return run
    waits = services.overrides.waits_for_people
    if waits:
        run.store.keep(_ASKED_BACK, b"")
    outcome = needs_input_outcome(judged, waits=waits)
    return AttemptResult(outcome, run.plan, run.last_joined_id if waits else 0)


def _is_answered(services: StepServices, run: Run) -> bool:
    """Tell whether somebody who may steer the run has said what was missing.

    Whatever they say to the question is enough, be it to stop: it is asked once.
    """
    was_asked = run.store.load_kept(_ASKED_BACK) is not None
    held: WaitingState | None = AgentState.AWAITING_USER_INPUT if was_asked else None
    steering = open_steering(services, run, held)
    # Each is judged, so that questions about the run are answered.
    judged = [
        (one.trigger.request, steering.judge(one.trigger, one.event_id))
        for one in run.joined
    ]
    return any(
        is_stop(found)
        or (isinstance(found, Message) and (was_asked or has_substance(said)))
        for said, found in judged
    )


@skipped_on_resume
def stop_if_competing(services: StepServices, run: Run) -> Run | End:
    """End the run if other people have an open pull request for the issue."""
    if _linked_pulls(run) or not services.overrides.looks_for_competitors:
        return run
    competing = find_competing_pull_request(services, run)
    return run if competing is None else AttemptResult(competing, run.plan, 0)


@skipped_on_resume
def prepare_task(services: StepServices, run: Run) -> Run | End:
    """Look everything up, and write the task."""
    threads, notes = _filtered_threads(run).threads, _filtered_threads(run).notes
    run_settings = apply_configuration(services.settings, run.plan.config)
    prepared = prepare(services.sources, _request(services, run))
    prepared = prepared.with_notes((*run_settings.notes, *notes))
    task = with_inferred_set_up(
        prepared.task,
        prepared.mirror.objects,
        run.plan.config,
        run_settings.settings.sandbox,
    )
    prepared = replace(prepared, task=task)
    plan = with_provenance(
        _with_found(run.plan, prepared).replace(
            checks_need_nudge=services.code_host.starts_no_checks
        ),
        services.directory,
        run.trigger,
        threads,
        run.linked,
        private_texts=prepared.private_texts,
    )
    return replace(run, plan=plan, prepared=prepared)


def _filtered_threads(run: Run) -> FilteredThreads:
    if run.filtered_threads is None:
        raise ValueError("the threads are read before they are judged")
    return run.filtered_threads


def _request(services: StepServices, run: Run) -> PreparationRequest:
    job, plan = run.job, run.plan
    thread, *tied = _filtered_threads(run).threads
    return PreparationRequest(
        run_id=job.id,
        trigger=with_name(job.trigger, thread),
        thread=thread,
        asked_at=job.created_at,
        config=plan.config,
        linked_pulls=_linked_pulls(run),
        linked=_other_threads(run),
        tied=tuple(tied),
        label=plan.frame.label,
        checks=run.checks,
        token=_token(run),
        privacy=privacy_note() if plan.openness.keeps_out else "",
        schema=services.overrides.schema,
        is_own_pull=any(
            one.is_own_pull and str(one.ref) == str(run.trigger.thread)
            for one in run.linked
        ),
        earlier_tests=earlier_commands(run.store.list_outcomes()),
    )


def _linked_pulls(run: Run) -> tuple[int, ...]:
    """Return the numbers of the pull requests from this conversation."""
    return tuple(
        one.ref.number
        for one in run.linked
        if one.is_own_pull
        and isinstance(one.ref, ForgeThread)
        and one.ref.repo == run.trigger.home
        and str(one.ref) != str(run.trigger.thread)
    )


def _token(run: Run) -> str:
    """Return a text that makes the branch name unique: the ticket's key, if allowed."""
    if run.plan.openness.keeps_out:
        return run.job.id[:8]
    return find_ticket_key(run.trigger, run.linked)


def _other_threads(run: Run) -> tuple[ThreadRef, ...]:
    own = str(run.trigger.thread)
    return tuple(
        one.ref for one in run.linked if not one.is_own_pull and str(one.ref) != own
    )


def _with_found(plan: RunPlan, prepared: Prepared) -> RunPlan:
    """Store the data that the delivery of the result needs."""
    return plan.replace(
        repository=prepared.repository,
        target=prepared.target,
        trusted_sha=prepared.trusted_sha,
        review_threads=prepared.review_threads,
        asked_reviews=prepared.asked_reviews,
        names=dict(prepared.names),
        template=prepared.template,
    )


@skipped_on_resume
def show_check(services: StepServices, run: Run) -> Run | End:
    """Report a running check on the commit of a pull request."""
    if not run.trigger.thread.kind.is_pull:
        return run
    sha = _prepared(run).task.base_sha
    run = replace(run, plan=run.plan.replace(check_sha=sha))
    forge, clock = services.code_host.forge, services.clock
    begin_check(
        forge, run.trigger.home, sha, run.plan.frame, clock, publisher=services.live
    )
    return run


@skipped_on_resume
def read_follow_ups(services: StepServices, run: Run) -> Run | End:
    """Add the messages that came meanwhile; end the run if one of them is `stop`."""
    prepared, steering = _prepared(run), open_steering(services, run)
    task, stopped = with_follow_ups(services, run, steering, prepared.task)
    if stopped is not None:
        return AttemptResult(stopped, run.plan, run.start_id)
    return replace(run, prepared=replace(prepared, task=task))


@skipped_on_resume
def keep_plan(_services: StepServices, run: Run) -> Run | End:
    """Store the plan and the images, which the log lacks, for later attempts."""
    keep_images(run.store.keep, _prepared(run).images)
    run.store.keep(PLAN_ARTIFACT, run.plan.model_dump_json().encode())
    return run


def resolve_task(services: StepServices, run: Run) -> Run | End:
    """Let the agent resolve the task; a run that has begun continues."""
    if not run.has_begun:
        prepared = _prepared(run)
        code, images = prepared.mirror.objects, prepared.images
        return _resolve(services, run, prepared.task, code, images)
    repository, target = run.plan.repository, run.plan.target
    if repository is None or target is None:
        raise ValueError("a started run has a repository and a target")
    refs = target.start_ref, target.trusted_ref
    code = fetch_mirror(services.sources, repository, *refs).objects
    images = load_images(run.store.load_kept)
    done = _resolve(services, run, None, code, images)
    if not done.outcome.waits:
        services.sandboxes.remove(run.job.id)
    return done


WORK_STEPS: tuple[Step, ...] = (
    read_conversation,
    ask_back,
    stop_if_competing,
    prepare_task,
    show_check,
    read_follow_ups,
    keep_plan,
    resolve_task,
)


def _resolve(
    services: StepServices,
    run: Run,
    task: Task | None,
    code: ObjectStore,
    images: Mapping[str, Image],
) -> AttemptResult:
    redaction = PrivateTextRedaction(run.store, run.trigger)
    dependencies = _dependencies(services, run, redaction, code, images)
    resolution = resolve(task, dependencies, run.start_id)
    outcome = resolution.outcome
    redact = run.store.redact
    packed = (
        pack_change(code, outcome, lambda text: str(redact(text)))
        if outcome.head_sha
        else {}
    )
    code.release(run.job.id)
    return AttemptResult(
        _with_note_on_unanswered_reviews(outcome, run.plan),
        redaction.applied_to(run.plan),
        resolution.read_up_to,
        packed,
    )


def _prepared(run: Run) -> Prepared:
    if run.prepared is None:
        raise ValueError("a task is prepared before it is worked on")
    return run.prepared


def _with_note_on_unanswered_reviews(outcome: Outcome, plan: RunPlan) -> Outcome:
    """Answer the review threads with a request; report threads without an answer."""
    outcome = answer_requesting_threads(outcome, plan.asked_reviews)
    if outcome.kind is not OutcomeKind.RESOLVED:
        return outcome
    note = unanswered_note(outcome.reviews, len(plan.review_threads))
    notes = (*outcome.notes, note) if note else outcome.notes
    return outcome.replace(notes=notes)


def _dependencies(
    services: StepServices,
    run: Run,
    redaction: PrivateTextRedaction,
    code: ObjectStore,
    images: Mapping[str, Image],
) -> RunDependencies:
    job, plan, config = run.job, run.plan, run.plan.config
    settings = apply_configuration(services.settings, config).settings
    return RunDependencies(
        run_id=job.id,
        models=services.find_models(settings.agent.model),
        sandboxes=services.sandboxes,
        spec=sandbox_spec(settings, job.id),
        code=code,
        log=run.log,
        limits=settings.limits.of_a_run(),
        run_budget=run.store.open_budget(run.trigger, settings.limits),
        clock=services.clock,
        author=commit_author_of(services.directory.forge),
        agent_configuration=services.agent_configuration,
        filter_steering=open_steering(services, run).receive,
        open_mcp=partial(services.open_mcp, settings),
        library=RepositoryLibrary(code, plan.trusted_sha, config.instructions),
        images=images,
        checkpoints=StoredCheckpoints(run.store)
        if services.overrides.waits_for_people
        else None,
        release_signal=run.release_signal,
        protected_paths=config.kept_for_people,
        config_file=config.file,
        find_known=services.find_known,
        signing_key=services.directory.forge.commit_key,
        redact_private=partial(redaction.redact_private, plan),
        redact_private_title=partial(redaction.redact_private_title, plan),
        find_private_words=partial(redaction.private_words, plan),
        set_up_cache=open_set_up_cache(services.settings, services.clock),
        repository=name_repository(plan.repository),
    )
