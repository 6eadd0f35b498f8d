"""Read the threads of a run, and prepare its task of what they say."""

from collections.abc import Sequence
from dataclasses import replace

import structlog

from patchwright.core.errors import ServiceError
from patchwright.core.settings.repository import ContextFrom
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import ForgeThread, Thread, ThreadRef
from patchwright.core.types.triggers import Trigger
from patchwright.resolver.configuration import apply_configuration
from patchwright.resolver.consent import (
    find_ticket_key,
    with_name,
    with_origins,
)
from patchwright.resolver.context.linked_threads import read_linked_threads
from patchwright.resolver.context.thread_history import FilteredThreads, filter_comments
from patchwright.resolver.permissions import find_permission
from patchwright.resolver.preparation import (
    PreparationRequest,
    Prepared,
    fetch_thread,
    prepare,
)
from patchwright.resolver.round_trigger import find_competing_pull_request
from patchwright.resolver.run import End, Run, skipped_on_resume
from patchwright.resolver.run_plan import AttemptResult, RunPlan
from patchwright.resolver.services import StepServices
from patchwright.resolver.stored_text import clean_thread
from patchwright.resolver.triage import (
    TriageQuestion,
    has_asked,
    needs_input_outcome,
    triage,
)
from patchwright.resolver.visibility import privacy_note

log = structlog.get_logger(__name__)


def read_threads(services: StepServices, run: Run) -> FilteredThreads:
    """Read a run's thread, and the others of its conversation, as they were then."""
    trigger, at = run.trigger, run.job.created_at
    thread = fetch_thread(services.channel, trigger, at)
    tied = read_linked_threads(services.channel, _other_threads(run), at)
    clean = [clean_thread(run.store.redact, one) for one in (thread, *tied)]
    return _hear(services, trigger, clean, run.plan.config.context_from)


def _hear(
    services: StepServices,
    trigger: Trigger,
    threads: Sequence[Thread],
    rule: ContextFrom,
) -> FilteredThreads:
    """Return the threads with what those say who count for this run, and we."""

    def ask(author: Actor) -> Permission | None:
        person = services.chat.find_person(author)
        if person is None:
            return None
        return find_permission(services.code_host.forge, trigger.home, person)

    if rule == "all-marked":
        return FilteredThreads(threads=tuple(threads))
    own = (trigger.actor, trigger.asker, *_ourselves(services))
    return filter_comments(threads, rule, own, ask)


def _ourselves(services: StepServices) -> tuple[Actor, ...]:
    try:
        found = services.code_host.fetch_identity()
    except ServiceError as error:
        log.warning("own_identity_unknown", reason=error.reason)
        return ()
    return (found,) if found else ()


@skipped_on_resume
def read_conversation(services: StepServices, run: Run) -> Run | End:
    """Read the threads of the conversation, as they were when it was asked for."""
    linked = run.store.load_threads()
    run = replace(run, linked=linked)
    return replace(run, heard=read_threads(services, run))


@skipped_on_resume
def ask_back(services: StepServices, run: Run) -> Run | End:
    """Ask for what the request lacks, once in a thread."""
    thread, *tied = _heard(run).threads
    judged = triage(thread, run.trigger, tied)
    asks_back = services.settings.agent.triage and not run.trigger.kind.is_automatic
    if (
        asks_back
        and isinstance(judged, TriageQuestion)
        and not has_asked(services.channel, thread.ref)
    ):
        return AttemptResult(needs_input_outcome(judged), run.plan, read_up_to=0)
    return run


@skipped_on_resume
def stop_if_competing(services: StepServices, run: Run) -> Run | End:
    """End where people work on it already, unless it is our own pull request."""
    if _linked_pulls(run):
        return run
    competing = find_competing_pull_request(services, run)
    return run if competing is None else AttemptResult(competing, run.plan, 0)


@skipped_on_resume
def prepare_task(services: StepServices, run: Run) -> Run | End:
    """Look everything up, and write the task."""
    threads, notes = _heard(run).threads, _heard(run).notes
    run_settings = apply_configuration(services.settings, run.plan.config)
    prepared = prepare(services.sources, _request(services, run))
    prepared = prepared.with_notes((*run_settings.notes, *notes))
    plan = with_origins(
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


def _heard(run: Run) -> FilteredThreads:
    if run.heard is None:
        raise ValueError("the threads are read before they are judged")
    return run.heard


def _request(services: StepServices, run: Run) -> PreparationRequest:
    job, plan = run.job, run.plan
    thread, *tied = _heard(run).threads
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
    )


def _linked_pulls(run: Run) -> tuple[int, ...]:
    """Return the numbers of pull requests that this conversation led to."""
    return tuple(
        one.ref.number
        for one in run.linked
        if one.is_own_pull
        and isinstance(one.ref, ForgeThread)
        and one.ref.repo == run.trigger.home
        and str(one.ref) != str(run.trigger.thread)
    )


def _token(run: Run) -> str:
    """Return what tells the branch from others: a ticket's key, if it may."""
    if run.plan.openness.keeps_out:
        return run.job.id[:8]
    return find_ticket_key(run.trigger, run.linked)


def _other_threads(run: Run) -> tuple[ThreadRef, ...]:
    own = str(run.trigger.thread)
    return tuple(
        one.ref for one in run.linked if not one.is_own_pull and str(one.ref) != own
    )


def _with_found(plan: RunPlan, prepared: Prepared) -> RunPlan:
    """Keep what is needed once more to deliver what comes of the run."""
    return plan.replace(
        repository=prepared.repository,
        target=prepared.target,
        trusted_sha=prepared.trusted_sha,
        review_threads=prepared.review_threads,
        asked_reviews=prepared.asked_reviews,
        names=dict(prepared.names),
        template=prepared.template,
    )
