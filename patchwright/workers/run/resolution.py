"""Read the threads of a job, have the agent resolve it, and pack the result."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import structlog

from patchwright.core.agent.run_log import ReleaseSignal
from patchwright.core.events.log import EventLog
from patchwright.core.forge import Checks
from patchwright.core.llm.model import Image
from patchwright.core.settings.repository import ContextFrom
from patchwright.core.types.errors import ServiceError
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import ForgeThread, Thread, ThreadKind, ThreadRef
from patchwright.core.types.triggers import Trigger
from patchwright.core.types.work import Outcome, Task
from patchwright.integrations.git.objects import ObjectStore
from patchwright.resolver.context.linked_threads import read_linked_threads
from patchwright.resolver.context.repository_files import RepositoryLibrary
from patchwright.resolver.context.thread_history import FilteredThreads, filter_comments
from patchwright.resolver.dependencies import RunDependencies
from patchwright.resolver.messages.pull_request import (
    answer_requesting_threads,
    unanswered_note,
)
from patchwright.resolver.resolve import resolve
from patchwright.resolver.triage import (
    TriageQuestion,
    has_asked,
    needs_input_outcome,
    triage,
)
from patchwright.resolver.visibility import privacy_note
from patchwright.workers.run.artifacts import (
    StoredCheckpoints,
    keep_images,
    load_images,
    pack_change,
)
from patchwright.workers.run.budget import open_budget
from patchwright.workers.run.configuration import apply_configuration, commit_author_of
from patchwright.workers.run.permissions import find_permission
from patchwright.workers.run.plan import PLAN_ARTIFACT, AttemptResult, RunPlan
from patchwright.workers.run.preparation import (
    PreparationRequest,
    Prepared,
    fetch_mirror,
    fetch_thread,
    prepare,
)
from patchwright.workers.run.rounds import find_competing_pull_request
from patchwright.workers.run.sandboxes import sandbox_spec
from patchwright.workers.run.services import RunServices
from patchwright.workers.run.status import begin_check
from patchwright.workers.run.steering import Steering, with_follow_ups
from patchwright.workers.run.visibility import (
    PrivateTextRedaction,
    find_ticket_key,
    with_name,
    with_origins,
)
from patchwright.workers.store.job import Job, Lease
from patchwright.workers.store.redaction import clean_thread

log = structlog.get_logger(__name__)


def read_threads(
    services: RunServices, job: Job, others: Iterable[ThreadRef], rule: ContextFrom
) -> FilteredThreads:
    """Read a job's thread, and `others` of its conversation, as they were then."""
    trigger, at = job.trigger, job.created_at
    thread = fetch_thread(services.channel, trigger, at)
    tied = read_linked_threads(services.channel, others, at)
    redact = services.stores.events.redact
    clean = [clean_thread(redact, one) for one in (thread, *tied)]
    return _hear(services, trigger, clean, rule)


def _hear(
    services: RunServices,
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


def _ourselves(services: RunServices) -> tuple[Actor, ...]:
    try:
        found = services.code_host.fetch_identity()
    except ServiceError as error:
        log.warning("own_identity_unknown", reason=error.reason)
        return ()
    return (found,) if found else ()


class JobResolution:
    """Resolves one job, from the event `start_id` of its log on.

    `plan` is what is known so far: with a target the run is taken up as it was begun.
    """

    def __init__(
        self,
        services: RunServices,
        job: Job,
        lease: Lease,
        *,
        log: EventLog,
        steering: Steering,
        release_signal: ReleaseSignal,
        plan: RunPlan,
        start_id: int,
        checks: Checks | None = None,
    ) -> None:
        self._services, self._job, self._lease = services, job, lease
        self._log, self._steering = log, steering
        self._release_signal = release_signal
        self._plan, self._start_id = plan, start_id
        self._checks = checks
        self._discretion = PrivateTextRedaction(services, job)
        self._threads = services.stores.threads.threads_of(job.conversation_id)
        heeded = apply_configuration(services.settings, plan.config)
        self._settings, self._notes = heeded.settings, heeded.notes

    def resume(self) -> AttemptResult:
        """Go on with a run that an earlier attempt has begun."""
        repository, target = self._plan.repository, self._plan.target
        if repository is None or target is None:
            raise ValueError("a run that was begun has a repository and a target")
        mirror = fetch_mirror(
            self._services.sources,
            repository,
            target.start_ref,
            target.trusted_ref,
        )
        images = load_images(self._services.stores.outcomes, self._job.id)
        done = self._resolve(None, mirror.objects, images)
        if not done.outcome.waits:
            self._services.sandboxes.remove(self._job.id)
        return done

    def begin(self) -> AttemptResult:
        """Look everything up, and work on it unless somebody is to be asked first."""
        services, job = self._services, self._job
        rule = self._plan.config.context_from
        heard = read_threads(services, job, self._other_threads(), rule)
        thread, *tied = heard.threads
        judged = triage(thread, job.trigger, tied)
        asks_back = services.settings.agent.triage and not job.trigger.kind.is_automatic
        if (
            asks_back
            and isinstance(judged, TriageQuestion)
            and not has_asked(services.channel, thread.ref)
        ):
            return AttemptResult(needs_input_outcome(judged), self._plan, read_up_to=0)
        linked = self._linked_pulls()
        if not linked and (rivalled := find_competing_pull_request(services, job)):
            return AttemptResult(rivalled, self._plan, read_up_to=0)
        request = self._request(thread, tied, linked)
        prepared = prepare(services.sources, request)
        prepared = prepared.with_notes((*self._notes, *heard.notes))
        plan = _with_found(self._plan, prepared).replace(
            checks_need_nudge=services.code_host.starts_no_checks
        )
        self._plan = with_origins(
            plan,
            services.directory,
            job.trigger,
            (thread, *tied),
            self._threads,
            private_texts=prepared.private_texts,
        )
        self._begin_check(prepared.task.base_sha)
        return self._keep_and_resolve(prepared)

    def _request(
        self, thread: Thread, tied: Sequence[Thread], linked: tuple[int, ...]
    ) -> PreparationRequest:
        job = self._job
        return PreparationRequest(
            run_id=job.id,
            trigger=with_name(job.trigger, thread),
            thread=thread,
            asked_at=job.created_at,
            config=self._plan.config,
            linked_pulls=linked,
            linked=self._other_threads(),
            tied=tuple(tied),
            label=self._plan.frame.label,
            checks=self._checks,
            token=self._token(),
            privacy=privacy_note() if self._plan.openness.keeps_out else "",
            schema=self._services.overrides.schema,
        )

    def _keep_and_resolve(self, prepared: Prepared) -> AttemptResult:
        """Hear what was said meanwhile, and keep the plan for later attempts."""
        task, stopped = with_follow_ups(
            self._services, self._job, self._steering, prepared.task, self._start_id
        )
        if stopped is not None:
            return AttemptResult(stopped, self._plan, self._start_id)
        planned = self._plan.model_dump_json().encode()
        outcomes = self._services.stores.outcomes
        keep_images(outcomes, self._lease, prepared.images)
        outcomes.keep_artifact(self._lease, PLAN_ARTIFACT, planned)
        return self._resolve(task, prepared.mirror.objects, prepared.images)

    def _resolve(
        self, task: Task | None, code: ObjectStore, images: Mapping[str, Image]
    ) -> AttemptResult:
        resolution = resolve(task, self._toolkit(code, images), self._start_id)
        outcome = resolution.outcome
        packed = pack_change(code, outcome, self._redact) if outcome.head_sha else {}
        code.release(self._job.id)
        plan = self._discretion.applied_to(self._plan)
        return AttemptResult(
            self._with_note_on_unanswered_reviews(outcome),
            plan,
            resolution.read_up_to,
            packed,
        )

    def _redact(self, text: str) -> str:
        return str(self._services.stores.events.redact(text))

    def _with_note_on_unanswered_reviews(self, outcome: Outcome) -> Outcome:
        """Answer the review threads that asked; name others that have no answer."""
        outcome = answer_requesting_threads(outcome, self._plan.asked_reviews)
        if outcome.kind is not OutcomeKind.RESOLVED:
            return outcome
        note = unanswered_note(outcome.reviews, len(self._plan.review_threads))
        notes = (*outcome.notes, note) if note else outcome.notes
        return outcome.replace(notes=notes)

    def _begin_check(self, sha: str) -> None:
        """Show on the commit of a pull request that it is worked on."""
        thread, services = self._job.trigger.thread, self._services
        if thread.kind is not ThreadKind.PULL_REQUEST:
            return
        self._plan = self._plan.replace(check_sha=sha)
        begin_check(
            services.code_host.forge,
            self._job.trigger.home,
            sha,
            self._plan.frame,
            services.clock,
            publisher=services.live,
        )

    def _linked_pulls(self) -> tuple[int, ...]:
        """Return the numbers of pull requests that this conversation led to."""
        trigger = self._job.trigger
        return tuple(
            one.ref.number
            for one in self._threads
            if one.is_own_pull
            and isinstance(one.ref, ForgeThread)
            and one.ref.repo == trigger.home
            and str(one.ref) != str(trigger.thread)
        )

    def _token(self) -> str:
        """Return what tells the branch from others: a ticket's key, if it may."""
        if self._plan.openness.keeps_out:
            return self._job.id[:8]
        return find_ticket_key(self._job.trigger, self._threads)

    def _other_threads(self) -> tuple[ThreadRef, ...]:
        own = str(self._job.trigger.thread)
        return tuple(
            one.ref
            for one in self._threads
            if not one.is_own_pull and str(one.ref) != own
        )

    def _toolkit(
        self, code: ObjectStore, images: Mapping[str, Image]
    ) -> RunDependencies:
        services, job, settings = self._services, self._job, self._settings
        plan, config = self._plan, self._plan.config
        return RunDependencies(
            run_id=job.id,
            models=services.find_models(settings.agent.model),
            sandboxes=services.sandboxes,
            spec=sandbox_spec(settings, job.id),
            code=code,
            log=self._log,
            limits=settings.limits.of_a_run(),
            run_budget=open_budget(services, settings, job),
            clock=services.clock,
            author=commit_author_of(services.directory.forge),
            agent_configuration=services.conduct,
            hear=self._steering.receive,
            open_mcp=partial(services.open_mcp, settings),
            library=RepositoryLibrary(code, plan.trusted_sha, config.instructions),
            images=images,
            checkpoints=StoredCheckpoints(services.stores.outcomes, self._lease)
            if services.overrides.waits_for_people
            else None,
            release_signal=self._release_signal,
            protected_paths=config.kept_for_people,
            config_file=config.file,
            find_known=services.find_known,
            signing_key=services.directory.forge.commit_key,
            redact_private=partial(self._discretion.redact_private, plan),
            redact_private_title=partial(self._discretion.redact_private_title, plan),
            find_private_words=partial(self._discretion.private_words, plan),
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
