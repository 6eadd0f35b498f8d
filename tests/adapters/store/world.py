"""Everything a story about the database needs, composed as the service does it."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from sqlalchemy import Table, select

from patchwright.core.events.log import Notifier
from patchwright.core.events.types import Event
from patchwright.core.types.base import ConversationId, JobId, RandomIds
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadKind
from patchwright.core.types.triggers import StoredDelivery, Trigger, TriggerKind
from patchwright.core.webhook import Delivery, InboxResult
from patchwright.resolver.job import Job, Lease
from patchwright.workers.db.database import Database
from patchwright.workers.inbox.inbox import Inbox
from patchwright.workers.inbox.recorder import Recorder
from patchwright.workers.store.effects import EffectStore
from patchwright.workers.store.events import EventStore
from patchwright.workers.store.jobs import JobStore
from patchwright.workers.store.leases import LeaseStore
from patchwright.workers.store.outcomes import OutcomeStore
from patchwright.workers.store.requests import RequestStore
from patchwright.workers.store.threads import ThreadStore
from tests.fakes.clock import FakeClock

LEASE_S = 60.0
REPO = RepoRef(forge="github", full_name="acme/shop")
ISSUE = ForgeThread(repo=REPO, kind=ThreadKind.ISSUE, number=7)
ALICE = Actor(service="github", login="alice", external_id="1")


def trigger(key: str = "k1", request: str = "fix it") -> Trigger:
    return Trigger(
        key=key,
        kind=TriggerKind.COMMENT_MENTION,
        actor=ALICE,
        thread=ISSUE,
        request=request,
        title="It is broken",
    )


class World:
    """A database, a clock that stands still, and the stores on both."""

    def __init__(self, database: Database, clock: FakeClock | None = None) -> None:
        ids = RandomIds()
        self.database = database
        self.clock = clock or FakeClock()
        self.notifier = Notifier()
        self.events = EventStore(database, lambda tree: tree, self.clock, self.notifier)
        self.recorder = Recorder(self.events, ids)
        self.jobs = JobStore(database)
        self.leases = LeaseStore(database)
        self.effects = EffectStore(database)
        self.outcomes = OutcomeStore(database, ids)
        self.requests = RequestStore(database)
        self.threads = ThreadStore(database)
        self.dispatched: list[JobId] = []
        self._delivery_ids = count(1)

    @contextmanager
    def open_intake(self) -> Iterator[Inbox]:
        with Inbox(self.database, self.recorder, self.dispatched.append) as inbox:
            yield inbox

    def delivery(self, reading: StoredDelivery, delivery_id: str = "") -> Delivery:
        return Delivery(
            service="github",
            id=delivery_id or f"d{next(self._delivery_ids)}",
            headers={"x-github-event": "issue_comment"},
            body=b"{}",
            received_at=self.clock.now(),
            reading=reading,
        )

    def deliver(self, reading: StoredDelivery, delivery_id: str = "") -> InboxResult:
        with self.database.writing() as connection:
            return self.recorder.record(connection, self.delivery(reading, delivery_id))

    def ask(self, key: str = "k1", request: str = "fix it") -> JobId:
        """Make a request, and return the job it started or joined."""
        job_id = self.deliver(trigger(key, request)).job_id
        assert job_id is not None
        return job_id

    def claim(self, job_id: JobId, worker: str = "w1") -> Lease:
        lease = self.leases.claim(job_id, worker, LEASE_S)
        assert lease is not None
        return lease

    def job(self, job_id: JobId) -> Job:
        job = self.jobs.load(job_id)
        assert job is not None
        return job

    def conversation(self, job_id: JobId) -> ConversationId:
        return self.job(job_id).conversation_id

    def log(self, job_id: JobId) -> list[Event]:
        return list(self.events.open(self.conversation(job_id)).read())

    def rows(self, table: Table) -> list[dict[str, object]]:
        with self.database.reading() as connection:
            rows = connection.execute(select(table)).mappings()
            return [dict(row) for row in rows]
