"""Have the agent resolve the task of a run, and pack the result."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from patchwright.core.llm.model import Image
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.threads import ThreadKind
from patchwright.core.types.work import Outcome, Task
from patchwright.integrations.git.objects import ObjectStore
from patchwright.resolver.artifacts import (
    keep_images,
    load_images,
    pack_change,
)
from patchwright.resolver.configuration import apply_configuration, commit_author_of
from patchwright.resolver.consent import (
    PrivateTextRedaction,
)
from patchwright.resolver.context.repository_files import RepositoryLibrary
from patchwright.resolver.conversation import (
    ask_back,
    prepare_task,
    read_conversation,
    stop_if_competing,
)
from patchwright.resolver.dependencies import RunDependencies
from patchwright.resolver.messages.pull_request import (
    answer_requesting_threads,
    unanswered_note,
)
from patchwright.resolver.preparation import (
    Prepared,
    fetch_mirror,
)
from patchwright.resolver.resolve import resolve
from patchwright.resolver.run import End, Run, skipped_on_resume
from patchwright.resolver.run_plan import PLAN_ARTIFACT, AttemptResult, RunPlan
from patchwright.resolver.run_store import StoredCheckpoints
from patchwright.resolver.sandboxes import sandbox_spec
from patchwright.workers.run.budget import open_budget
from patchwright.workers.run.services import RunServices
from patchwright.workers.run.setup import open_steering
from patchwright.workers.run.status import begin_check
from patchwright.workers.run.steering import Steering, with_follow_ups


@skipped_on_resume
def show_check(services: RunServices, run: Run) -> Run | End:
    """Show on the commit of a pull request that it is worked on."""
    if run.trigger.thread.kind is not ThreadKind.PULL_REQUEST:
        return run
    sha = _prepared(run).task.base_sha
    run = replace(run, plan=run.plan.replace(check_sha=sha))
    forge, clock = services.code_host.forge, services.clock
    begin_check(
        forge, run.trigger.home, sha, run.plan.frame, clock, publisher=services.live
    )
    return run


@skipped_on_resume
def read_follow_ups(services: RunServices, run: Run) -> Run | End:
    """Add what was said meanwhile, and end the run if that is to stop."""
    prepared, steering = _prepared(run), _open_steering(services, run)
    task, stopped = with_follow_ups(services, run, steering, prepared.task)
    if stopped is not None:
        return AttemptResult(stopped, run.plan, run.start_id)
    return replace(run, prepared=replace(prepared, task=task))


@skipped_on_resume
def keep_plan(_services: RunServices, run: Run) -> Run | End:
    """Keep the plan for later attempts, and what of the task is not in the log."""
    keep_images(run.store.keep, _prepared(run).images)
    run.store.keep(PLAN_ARTIFACT, run.plan.model_dump_json().encode())
    return run


def resolve_task(services: RunServices, run: Run) -> Run | End:
    """Have the agent resolve it; a run that has begun goes on where it was."""
    if not run.has_begun:
        prepared = _prepared(run)
        code, images = prepared.mirror.objects, prepared.images
        return _resolve(services, run, prepared.task, code, images)
    repository, target = run.plan.repository, run.plan.target
    if repository is None or target is None:
        raise ValueError("a run that was begun has a repository and a target")
    refs = target.start_ref, target.trusted_ref
    code = fetch_mirror(services.sources, repository, *refs).objects
    kept = load_images(run.store.load_kept)
    done = _resolve(services, run, None, code, kept)
    if not done.outcome.waits:
        services.sandboxes.remove(run.job.id)
    return done


WORK_STEPS: tuple[Callable[[RunServices, Run], Run | End], ...] = (
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
    services: RunServices,
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


def _open_steering(services: RunServices, run: Run) -> Steering:
    return open_steering(services, run.job, run.plan, run.store, run.log)


def _with_note_on_unanswered_reviews(outcome: Outcome, plan: RunPlan) -> Outcome:
    """Answer the review threads that asked; name others that have no answer."""
    outcome = answer_requesting_threads(outcome, plan.asked_reviews)
    if outcome.kind is not OutcomeKind.RESOLVED:
        return outcome
    note = unanswered_note(outcome.reviews, len(plan.review_threads))
    notes = (*outcome.notes, note) if note else outcome.notes
    return outcome.replace(notes=notes)


def _dependencies(
    services: RunServices,
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
        run_budget=open_budget(services, settings, job),
        clock=services.clock,
        author=commit_author_of(services.directory.forge),
        agent_configuration=services.conduct,
        hear=_open_steering(services, run).receive,
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
    )
