"""The database stores, the `RunStore` of one run, and the services of all runs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

import structlog
from pydantic import JsonValue

from patchwright.core.events.log import EventLog
from patchwright.core.settings.limits import LimitSettings
from patchwright.core.system.clock import Clock
from patchwright.core.types.base import ConversationId, JobId
from patchwright.core.types.threads import RepoRef, TalkThread, ThreadRef
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.types.work import Outcome
from patchwright.resolver.job import Job, Lease
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.resolver.publish.effects import RepositoryEffect, RunEffect
from patchwright.resolver.publish.publisher import with_refusal
from patchwright.resolver.run_store import (
    EarlierRun,
    JoinedRequest,
    LinkedThread,
    OtherConversation,
    RunStore,
)
from patchwright.resolver.services import StepServices
from patchwright.workers.store.accounts import AccountStore
from patchwright.workers.store.effects import EffectState, EffectStore, StoredEffect
from patchwright.workers.store.events import EventStore
from patchwright.workers.store.jobs import JobStore
from patchwright.workers.store.leases import LeaseStore
from patchwright.workers.store.outcomes import OutcomeStore
from patchwright.workers.store.requests import ConversationLinkStore, RequestStore
from patchwright.workers.store.reservations import ReservationStore
from patchwright.workers.store.shared_budget import SharedBudget
from patchwright.workers.store.spend_alerts import SpendAlertStore
from patchwright.workers.store.threads import ThreadStore


@dataclass(frozen=True)
class Stores:
    """The database stores, by purpose."""

    accounts: AccountStore
    effects: EffectStore
    events: EventStore
    jobs: JobStore
    leases: LeaseStore
    reservations: ReservationStore
    alerts: SpendAlertStore
    outcomes: OutcomeStore
    requests: RequestStore
    threads: ThreadStore


def delivery_results_of(effects: Sequence[StoredEffect]) -> DeliveryResult:
    """Return the newest stored result, and the effects that failed in the end.

    A failed label, check or notification is not part of the result.
    """
    so_far = DeliveryResult()
    for one in effects:
        if isinstance(one.effect, RunEffect):
            continue
        if one.receipt:
            so_far = DeliveryResult.model_validate_json(one.receipt)
        elif one.state is EffectState.ABANDONED and isinstance(
            one.effect, RepositoryEffect
        ):
            so_far = with_refusal(one.effect, one.error or "", so_far)
    return so_far


@dataclass(frozen=True)
class SqlRunStore:
    """The `RunStore` of a job, for the worker that has its lease.

    `account_host` is the forge on which requesters have their accounts.
    """

    stores: Stores
    links: ConversationLinkStore
    clock: Clock
    job: Job
    lease: Lease
    account_host: str

    def open_log(self) -> EventLog:
        return self.stores.events.open(self.job.conversation_id, self.lease)

    def redact(self, value: JsonValue) -> JsonValue:
        return self.stores.events.redact(value)

    def keep(self, name: str, data: bytes) -> None:
        self.stores.outcomes.keep_artifact(self.lease, name, data)

    def load_kept(self, name: str, run_id: JobId | None = None) -> bytes | None:
        return self.stores.outcomes.load_artifact(run_id or self.job.id, name)

    def load_requests(self) -> tuple[JoinedRequest, ...]:
        return self.stores.requests.joined(self.job.id)

    def settle_request(self, event_id: int) -> None:
        self.stores.requests.settle(self.lease, event_id)

    def settle(self, trigger: Trigger) -> None:
        self.links.settle(self.lease, trigger)

    def swap(self, joined: JoinedRequest, first: Trigger) -> None:
        self.links.swap(self.lease, joined, first)

    def replace_thread(self, old: TalkThread, new: TalkThread) -> None:
        self.links.replace(self.lease, old, new, self.clock.now())

    def load_threads(self) -> tuple[LinkedThread, ...]:
        return self.stores.threads.threads_of(self.job.conversation_id)

    def link(self, thread: ThreadRef) -> ConversationId | None:
        return self.links.link(self.lease, thread, self.clock.now())

    def move(
        self, trigger: Trigger, there: OtherConversation, *, joins: bool
    ) -> JobId | None:
        return self.links.move(
            self.lease, trigger, there, self.clock.now(), joins=joins
        )

    def find_conversation(self, thread: ThreadRef) -> ConversationId | None:
        return self.stores.threads.conversation_of(thread)

    def find_repository(
        self, conversation_id: ConversationId | None = None
    ) -> RepoRef | None:
        of = conversation_id or self.job.conversation_id
        return self.stores.threads.repository_of(of)

    def open_budget(self, trigger: Trigger, limits: LimitSettings) -> SharedBudget:
        account = self.stores.accounts.account_of(trigger.asker, self.account_host)
        structlog.contextvars.bind_contextvars(user_id=account)
        return SharedBudget(
            self.stores.reservations,
            self.stores.alerts,
            limits,
            self.clock,
            job_id=self.job.id,
            account_id=account,
            repo=trigger.home,
        )

    def closed_at(self, thread: ThreadRef) -> datetime | None:
        return self.stores.threads.closed_at(thread)

    def count_runs(self, since: datetime) -> int:
        return self.stores.jobs.count_since(self.job.conversation_id, since)

    def count_automatic_runs(self, kind: TriggerKind, since: datetime) -> int:
        jobs = self.stores.jobs
        return jobs.count_kind_since(self.job.conversation_id, kind, since)

    def list_since_last_request(self, kind: TriggerKind) -> tuple[EarlierRun, ...]:
        jobs = self.stores.jobs
        found = jobs.list_since_last_request(self.job.conversation_id, kind)
        return tuple(map(_as_earlier, found))

    def list_outcomes(self) -> tuple[Outcome, ...]:
        return self.stores.jobs.outcomes_of(self.job.conversation_id)

    def find_last_run(self) -> EarlierRun | None:
        found = self.stores.jobs.newest_run(self.job.conversation_id)
        return _as_earlier(found) if found else None

    def load_delivered(self, run_id: JobId) -> DeliveryResult:
        return delivery_results_of(self.stores.effects.of_job(run_id))


def _as_earlier(job: Job) -> EarlierRun:
    return EarlierRun(id=job.id, trigger=job.trigger, outcome=job.outcome)


@dataclass(frozen=True, kw_only=True)
class RunServices(StepServices):
    """The services of every run.

    `submit` puts a job in the queue. `warm_up` starts the slow preparation of the model
    early, before a run needs it.
    """

    stores: Stores
    links: ConversationLinkStore
    submit: Callable[[JobId], None]
    warm_up: Callable[[], None]

    def open_store(self, job: Job, lease: Lease) -> RunStore:
        return SqlRunStore(
            self.stores,
            self.links,
            self.clock,
            job,
            lease,
            self.directory.forge.account_host,
        )
