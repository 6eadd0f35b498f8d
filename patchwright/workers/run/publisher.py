"""The second half of a job: publish its effects, each once, in their order."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Final

import structlog

from patchwright.core.events.log import EventLog
from patchwright.core.events.types import RunStarted
from patchwright.core.types.errors import (
    AuthenticationError,
    GitError,
    LeaseLostError,
    NotFoundError,
    PatchwrightError,
    PermissionDeniedError,
    RateLimitedError,
    RuntimeLostError,
    SandboxError,
)
from patchwright.core.types.threads import ForgeThread, Repository, ThreadKind
from patchwright.core.types.work import Evidence, EvidenceRole, Outcome, Task
from patchwright.integrations.git.mirror import Mirror
from patchwright.resolver.dependencies import RunDependencies
from patchwright.resolver.effects import (
    CrossPost,
    Effect,
    FinalMessage,
    MoveTicket,
    OpenPullRequest,
    PushBranch,
    ReportCheck,
    SetPullMetadata,
    SwapLabels,
    UnknownEffect,
    UpdatePullRequest,
)
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.resolver.prove import prove
from patchwright.resolver.publish.destination import (
    Destination,
    ProveAgain,
    PublisherDependencies,
    prove_nothing,
)
from patchwright.resolver.publish.publisher import Publisher
from patchwright.workers.run.admission import policy_with
from patchwright.workers.run.artifacts import delivery_results_of
from patchwright.workers.run.budget import open_budget
from patchwright.workers.run.configuration import apply_configuration, commit_author_of
from patchwright.workers.run.plan import RunPlan, destination
from patchwright.workers.run.preparation import fetch_mirror
from patchwright.workers.run.sandboxes import sandbox_spec
from patchwright.workers.run.services import RunServices
from patchwright.workers.run.setup import load_plan
from patchwright.workers.store.effects import EffectState, EffectStore, StoredEffect
from patchwright.workers.store.job import Job, Lease
from patchwright.workers.store.outcomes import COMMITS

_NO_TIME: Final = "the run had no time left to run it again"
_NO_SANDBOX: Final = "it could not be run again there"

log = structlog.get_logger(__name__)


class SecondProof:
    """Proves the change of one job again; the reason where that was not done."""

    def __init__(
        self, services: RunServices, job: Job, lease: Lease, plan: RunPlan
    ) -> None:
        self._services, self._job, self._lease, self._plan = services, job, lease, plan
        self._settings = apply_configuration(services.settings, plan.config).settings

    def prove(
        self, outcome: Outcome, mirror: Mirror, base_sha: str, head_sha: str
    ) -> tuple[Evidence, ...] | str:
        """Return what was run on the commits, or why nothing was."""
        took_s = sum(one.seconds for one in outcome.evidence)
        limits = self._settings.limits.of_a_run()
        if outcome.seconds + took_s > limits.max_minutes * 60:
            return _NO_TIME
        dependencies = self._toolkit(mirror)
        task = _task_of(dependencies.log, base_sha)
        if task is None:
            return _NO_SANDBOX
        before = (e for e in outcome.evidence if e.role is EvidenceRole.BEFORE)
        commands = tuple(dict.fromkeys(one.command for one in before))
        try:
            return prove(task, dependencies, head_sha, commands)
        except (GitError, RuntimeLostError, SandboxError) as error:
            log.warning("not_proven_again", reason=error.reason, error=str(error))
            return _NO_SANDBOX

    def _toolkit(self, mirror: Mirror) -> RunDependencies:
        services, job, settings = self._services, self._job, self._settings
        return RunDependencies(
            run_id=job.id,
            models=services.find_models(settings.agent.model),
            sandboxes=services.sandboxes,
            spec=sandbox_spec(settings, job.id),
            code=mirror.objects,
            log=services.stores.events.open(job.conversation_id, self._lease),
            limits=settings.limits.of_a_run(),
            run_budget=open_budget(services, settings, job),
            clock=services.clock,
            author=commit_author_of(services.directory.forge),
            agent_configuration=services.conduct,
            config_file=self._plan.config.file,
        )


def _task_of(events: EventLog, base_sha: str) -> Task | None:
    """Return the task of the newest run, as it is on another base."""
    newest = events.read(limit=1, reverse=True, kinds=frozenset({"run_started"}))
    tasks = (e.payload.task for e in newest if isinstance(e.payload, RunStarted))
    task = next(tasks, None)
    if task is None:
        return None
    return Task.model_validate(task.model_dump() | {"base_sha": base_sha})


MAX_TRIES = 8
# People wait for the message behind these, and have what matters without them.
_MAX_TRIES_OF_TRIMMINGS: Final = 3
_MAX_TRIES_OF_PULL_REQUESTS: Final = 4
_FIRST_WAIT_S = 5.0
# So many workers may be lost over one delivery.
_MOST_LOST: Final = 3
_LOST: Final = (
    f"the worker was lost {_MOST_LOST} times while it did this; the service's log has "
    "the cause"
)


def _no_mirror() -> Mirror:
    raise GitError("the commits are not at hand")


def make_deliverer(
    services: RunServices,
    plan: RunPlan,
    fetch_mirror: Callable[[], Mirror] = _no_mirror,
    prove_again: ProveAgain = prove_nothing,
) -> Publisher:
    github = services.code_host
    dependencies = PublisherDependencies(
        github.forge,
        services.channel,
        github.reviews,
        fetch_mirror,
        forge_signs=services.directory.forge.signs_commits,
        clock=services.clock,
        invite=services.chat.invite,
        renew=services.chat.renew,
        prove_again=prove_again,
    )
    return Publisher(dependencies, policy_with(services, plan.config))


def give_up_lost_effect(effects: EffectStore, lease: Lease) -> None:
    """Go on without the effect at which one worker after the other was lost."""
    if lease.delivery_attempt > _MOST_LOST:
        log.error("effect_given_up", job_id=lease.job_id)
        effects.abandon_first(lease, _LOST)


def _most_tries(effect: Effect) -> int:
    is_trimming = isinstance(effect, SetPullMetadata | ReportCheck | SwapLabels)
    if isinstance(effect, OpenPullRequest | UpdatePullRequest | UnknownEffect):
        # The branch is there, with a link to open the pull request by hand. What is
        # not known may be done by a worker of another version meanwhile.
        return _MAX_TRIES_OF_PULL_REQUESTS
    if isinstance(effect, MoveTicket):
        is_trimming = effect.with_pull
    return _MAX_TRIES_OF_TRIMMINGS if is_trimming else MAX_TRIES


class OutcomePublisher:
    """Delivers one job's outcome, as far as the services let it."""

    def __init__(
        self, services: RunServices, job: Job, outcome: Outcome, lease: Lease
    ) -> None:
        self._services, self._job, self._lease = services, job, lease
        self._outcome = outcome
        self._mirror: Mirror | None = None
        self._repository: Repository | None = None
        self._plan = load_plan(services, job)
        reproving = SecondProof(services, job, lease, self._plan)
        self._deliverer = make_deliverer(
            services, self._plan, self._fetch_mirror, reproving.prove
        )

    @property
    def so_far(self) -> DeliveryResult:
        """Return what came of it outside."""
        return self._delivered_so_far()

    def run(self) -> bool:
        """Carry out what is due; return whether nothing is left to do."""
        effects = self._services.stores.effects
        so_far = self._delivered_so_far()
        while due := effects.next_due(self._job.id):
            try:
                if isinstance(due.effect, FinalMessage | CrossPost):
                    so_far = so_far.with_remarks(self._plan.remarks)
                so_far = self._deliverer.perform(
                    due.effect, self._outcome, self._destination(due.effect), so_far
                )
            except LeaseLostError:
                raise
            except Exception as error:  # noqa: BLE001 - an effect's edge: the others count
                self._postpone(due, error)
                so_far = self._delivered_so_far()
                continue
            effects.mark_done(self._lease, due.key, so_far.model_dump_json())
            self._link(so_far)
        if self._mirror is not None:
            self._mirror.objects.release(self._job.id)
        stored = effects.of_job(self._job.id)
        return all(effect.state is not EffectState.PENDING for effect in stored)

    def _destination(self, effect: Effect) -> Destination:
        """Say where it goes, by what is known of the repository at this moment."""
        to = destination(self._plan, self._job.trigger)
        is_write = isinstance(effect, PushBranch | OpenPullRequest)
        if not is_write or self._plan.repository is None:
            return to
        present = self._present_repository(to.repository)
        before = to.repository.default_branch
        is_renamed = before != present.default_branch
        return replace(
            to, repository=present, renamed_from=before if is_renamed else ""
        )

    def _present_repository(self, known: Repository) -> Repository:
        """Read it again: its default branch may have another name by now."""
        if self._repository is None:
            try:
                self._repository = self._services.code_host.forge.fetch_repository(
                    known.ref
                )
            except (AuthenticationError, NotFoundError, PermissionDeniedError):
                # The write itself meets that, and says what follows from it.
                return known
        return self._repository

    def _delivered_so_far(self) -> DeliveryResult:
        return delivery_results_of(self._services.stores.effects.of_job(self._job.id))

    def _postpone(self, due: StoredEffect, error: Exception) -> None:
        """Try again later, ever less often; in the end go on without it."""
        effects = self._services.stores.effects
        foreseen = isinstance(error, PatchwrightError)
        text = str(error) if foreseen else "something broke inside Patchwright"
        log.warning(
            "effect_failed",
            key=due.key,
            error=text,
            tries=due.attempts,
            exc_info=None if foreseen else error,
        )
        if due.attempts + 1 >= _most_tries(due.effect):
            effects.abandon(self._lease, due.key, text)
            return
        wait = timedelta(seconds=_FIRST_WAIT_S * 2**due.attempts)
        if isinstance(error, RateLimitedError):
            # How long it is until then: other clocks may be ahead of this one.
            wait = max(wait, error.until - self._services.clock.now())
        effects.mark_failed(self._lease, due.key, text, wait)

    def _link(self, so_far: DeliveryResult) -> None:
        """Make the pull request part of the conversation it came from."""
        if so_far.pull_request is None or self._services.overrides.is_dry_run:
            return
        pull = ForgeThread(
            repo=self._job.trigger.home,
            kind=ThreadKind.PULL_REQUEST,
            number=so_far.pull_request,
        )
        target, now = self._plan.target, self._services.clock.now()
        base = target.base_branch if target else ""
        # What could not go to the head of an old one is on a branch beside it.
        is_old = target is not None and target.moves_branch
        head = target.branch if target and is_old else so_far.branch
        self._services.stores.threads.link(
            self._job.conversation_id, pull, now, base, head
        )

    def _fetch_mirror(self) -> Mirror:
        """Return a mirror that has the commits, whichever worker made them."""
        if self._mirror is not None:
            return self._mirror
        repository, target = self._plan.repository, self._plan.target
        if repository is None or target is None:
            raise GitError("the run ended before its repository was known")
        services = self._services
        fetch = partial(fetch_mirror, services.sources, repository)
        try:
            mirror = fetch(target.start_ref)
        except NotFoundError:
            # That branch is gone by now; what it held is in the mirror all the same.
            present = self._present_repository(repository)
            mirror = fetch(f"refs/heads/{present.default_branch}")
        packed = services.stores.outcomes.load_artifact(self._job.id, COMMITS)
        if packed is None:
            raise GitError("the commits of this run are lost")
        mirror.objects.take(packed, self._outcome.base_sha, self._job.id)
        self._mirror = mirror
        return mirror
