"""The second half of a job: publish its effects, each once, in their order."""

from dataclasses import replace
from datetime import timedelta
from typing import Final

import structlog

from patchwright.core.types.errors import (
    AuthenticationError,
    LeaseLostError,
    NotFoundError,
    PatchwrightError,
    PermissionDeniedError,
    RateLimitedError,
)
from patchwright.core.types.threads import ForgeThread, Repository
from patchwright.core.types.work import Outcome
from patchwright.integrations.git.mirror import Mirror
from patchwright.resolver.attempt import restore_plan
from patchwright.resolver.delivery import SecondProof, fetch_commits, make_deliverer
from patchwright.resolver.job import Job, Lease
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.resolver.publish.destination import (
    Destination,
)
from patchwright.resolver.publish.effects import (
    CrossPost,
    Effect,
    FinalMessage,
    MoveTicket,
    OpenPullRequest,
    PushBranch,
    RefreshEvidence,
    ReportCheck,
    SetPullMetadata,
    SwapLabels,
    UnknownEffect,
    UpdatePullRequest,
)
from patchwright.resolver.run_plan import PLAN_ARTIFACT, destination
from patchwright.resolver.run_store import COMMITS
from patchwright.workers.store.effects import EffectState, EffectStore, StoredEffect
from patchwright.workers.store.run_store import RunServices, delivery_results_of

log = structlog.get_logger(__name__)


MAX_TRIES = 8
# People wait for the final message, which comes after these less important effects.
_MAX_TRIES_OF_TRIMMINGS: Final = 3
_MAX_TRIES_OF_PULL_REQUESTS: Final = 4
_FIRST_WAIT_S = 5.0
# How many workers may be lost during one delivery.
_MOST_LOST: Final = 3
_LOST: Final = (
    f"the worker was lost {_MOST_LOST} times while it did this; the service's log has "
    "the cause"
)


def give_up_lost_effect(effects: EffectStore, lease: Lease) -> None:
    """Skip the effect during which one worker after the other was lost."""
    if lease.delivery_attempt > _MOST_LOST:
        log.error("effect_given_up", job_id=lease.job_id)
        effects.abandon_first(lease, _LOST)


_OF_PULL_REQUESTS: Final = (
    OpenPullRequest,
    UpdatePullRequest,
    RefreshEvidence,
    UnknownEffect,
)


def _most_tries(effect: Effect) -> int:
    is_trimming = isinstance(effect, SetPullMetadata | ReportCheck | SwapLabels)
    if isinstance(effect, _OF_PULL_REQUESTS):
        # The branch exists, with a link to open the pull request by hand. A worker of
        # another version may carry out an effect that this version does not know.
        return _MAX_TRIES_OF_PULL_REQUESTS
    if isinstance(effect, MoveTicket):
        is_trimming = effect.with_pull
    return _MAX_TRIES_OF_TRIMMINGS if is_trimming else MAX_TRIES


class OutcomePublisher:
    """Delivers one job's outcome, as far as the services allow it."""

    def __init__(
        self, services: RunServices, job: Job, outcome: Outcome, lease: Lease
    ) -> None:
        self._services, self._job, self._lease = services, job, lease
        self._outcome = outcome
        self._mirror: Mirror | None = None
        self._repository: Repository | None = None
        store = services.open_store(job, lease)
        self._plan = restore_plan(services, job, store.load_kept(PLAN_ARTIFACT))
        reproving = SecondProof(services, job, store, self._plan)
        self._deliverer = make_deliverer(
            services, self._plan, self._fetch_mirror, reproving.prove
        )

    @property
    def so_far(self) -> DeliveryResult:
        """Return the results of the delivery on the services."""
        return self._delivered_so_far()

    def run(self) -> bool:
        """Carry out the effects that are due; return True if none is left."""
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
        """Return the destination, with the newest data of the repository."""
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

    def _present_repository(self, repository: Repository) -> Repository:
        """Read the repository again: its default branch may have a new name."""
        if self._repository is None:
            try:
                self._repository = self._services.code_host.forge.fetch_repository(
                    repository.ref
                )
            except (AuthenticationError, NotFoundError, PermissionDeniedError):
                # The write itself gets the same error and handles it.
                return repository
        return self._repository

    def _delivered_so_far(self) -> DeliveryResult:
        return delivery_results_of(self._services.stores.effects.of_job(self._job.id))

    def _postpone(self, due: StoredEffect, error: Exception) -> None:
        """Try again later with growing delays; skip the effect in the end."""
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
            # The delay, not the time: the clocks of other machines may differ.
            wait = max(wait, error.until - self._services.clock.now())
        effects.mark_failed(self._lease, due.key, text, wait)

    def _link(self, so_far: DeliveryResult) -> None:
        """Link the pull request to the conversation of the request."""
        if so_far.pull_request is None or self._services.overrides.is_dry_run:
            return
        pull = ForgeThread(
            repo=self._job.trigger.home,
            kind=so_far.pull_request_kind,
            number=so_far.pull_request,
        )
        target, now = self._plan.target, self._services.clock.now()
        base = target.base_branch if target else ""
        # Commits that could not be pushed to an old pull request are on a new branch.
        is_old = target is not None and target.moves_branch
        head = target.branch if target and is_old else so_far.branch
        self._services.stores.threads.link(
            self._job.conversation_id, pull, now, base, head
        )

    def _fetch_mirror(self) -> Mirror:
        """Return a mirror that has the commits, also those of another worker."""
        if self._mirror is not None:
            return self._mirror
        packed = self._services.stores.outcomes.load_artifact(self._job.id, COMMITS)
        mirror = fetch_commits(
            self._services,
            self._plan,
            self._outcome,
            self._job.id,
            packed=packed,
            find_present=self._present_repository,
        )
        self._mirror = mirror
        return mirror
