"""A database of sample values: kinds, states and fields that no story has."""

import json
from contextlib import closing
from datetime import timedelta
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Final, cast, get_args

from pydantic import BaseModel
from sqlalchemy import insert, update

from patchwright.core.events.jsonl import export_log
from patchwright.core.events.payload import Source
from patchwright.core.events.types import Known
from patchwright.core.llm.model import Image
from patchwright.core.plugin import DeliveryAttempt
from patchwright.core.types.base import JobId
from patchwright.core.types.people import Actor, PersonalToken
from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadKind
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.types.work import Outcome
from patchwright.core.webhook import Delivery
from patchwright.integrations.github.app import NewApp
from patchwright.integrations.github.setup import GitHubAppStore
from patchwright.integrations.slack.tokens import (
    SlackInstallation,
    SlackInstallationStore,
)
from patchwright.resolver.job import JobState, Lease
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.resolver.publish.effects import (
    Effect,
    NotificationEffect,
    RepositoryEffect,
)
from patchwright.resolver.run_plan import PLAN_ARTIFACT, RunPlan
from patchwright.resolver.run_store import (
    DEFAULT_REPOSITORY,
    DIFF,
    consent_name,
    keep_images,
)
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import effects, jobs
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.inbox.missed_deliveries import MissedDeliveryStore
from patchwright.workers.inbox.recorder import Recorder
from patchwright.workers.ops.health import ProcessStatus, record_heartbeat
from patchwright.workers.store.choices import ChoiceStore
from patchwright.workers.store.effects import EffectState
from patchwright.workers.store.events import SqlEventLog
from patchwright.workers.store.identity_tokens import USER_TOKEN, serialize_grant
from patchwright.workers.store.requests import insert_job
from patchwright.workers.store.reservations import Ceilings, Reservation, Spender
from patchwright.workers.store.run_store import Stores
from patchwright.workers.store.secrets import SecretStore
from patchwright.workers.store.threads import start_conversation
from tests.fakes.clock import FakeClock
from tests.golden.samples import AT, sample, samples
from tests.golden.snapshot import APP_URL, OF_ANOTHER_VERSION, known_keys, open_stores

REPO: Final = RepoRef(forge="github", full_name="acme/shop")
SHARED: Final = ForgeThread(repo=REPO, kind=ThreadKind.ISSUE, number=9999)


class CountedIds:
    """Ids that are the same in every recording."""

    def __init__(self) -> None:
        self._count = 0

    def new(self) -> str:
        self._count += 1
        return f"{self._count:032x}"


class Writer:
    """Fills one database through the stores."""

    def __init__(self, database: Database) -> None:
        self.database, self.ids, self.clock = database, CountedIds(), FakeClock(AT)
        self.stores: Stores = open_stores(database, self.clock, self.ids)
        self.secrets = SecretStore(database, known_keys(), self.clock)
        self._numbers = iter(range(1, 1000))

    def job(self, trigger: Trigger) -> JobId:
        """Queue a job in a conversation of its own."""
        number = next(self._numbers)
        thread = ForgeThread(repo=REPO, kind=ThreadKind.ISSUE, number=number)
        job_id = JobId(self.ids.new())
        self.clock.advance(1)
        with self.database.writing() as connection:
            made = start_conversation(
                connection, self.ids, thread, trigger.title, self.clock.now()
            )
            assert made is not None
            insert_job(connection, job_id, made, trigger, self.clock.now())
        return job_id

    def claim(self, job_id: JobId) -> Lease:
        lease = self.stores.leases.claim(job_id, "host.test:1", 3600.0)
        assert lease is not None
        return lease

    def state(self, job_id: JobId, state: JobState) -> None:
        """Set a state that no code of today sets."""
        with self.database.writing() as connection:
            ours = update(jobs).where(jobs.c.id == job_id)
            connection.execute(ours.values(state=state))


def make(file: Path, log_file: Path) -> None:
    """Write the database, and its log of all event kinds as a file."""
    with closing(Database(f"sqlite:///{file}", clock=FakeClock(AT))) as database:
        upgrade(database)
        writer = Writer(database)
        _write_jobs(writer)
        log = _write_events(writer)
        with log_file.open("w", encoding="utf-8") as exported:
            export_log(log, exported)
        _write_effects(writer)
        _write_people(writer)
        _write_operations(writer)


def _write_jobs(writer: Writer) -> None:
    for trigger in samples(Trigger):
        writer.job(trigger)
    _write_joined(writer)
    received = writer.job(sample(Trigger))
    writer.state(received, JobState.RECEIVED)
    for plan in samples(RunPlan):
        lease = writer.claim(writer.job(sample(Trigger)))
        kept = plan.model_dump_json().encode()
        writer.stores.outcomes.keep_artifact(lease, PLAN_ARTIFACT, kept)
        keep_images(
            partial(writer.stores.outcomes.keep_artifact, lease),
            {"a.png": sample(Image)},
        )


def _write_joined(writer: Writer) -> None:
    """Let requests of each kind join one job."""
    recorder = Recorder(writer.stores.events, writer.ids)
    for number, trigger in enumerate(samples(Trigger)):
        if trigger.kind.is_automatic or trigger.kind is TriggerKind.REPLY:
            continue
        asked = trigger.replace(thread=SHARED, key=f"key {number}")
        delivery = Delivery(
            service="github",
            id=f"delivery-{number}",
            headers={"x-github-event": "issues", "x-hub-signature-256": "secret"},
            body=b"{}",
            received_at=writer.clock.now(),
            reading=asked,
        )
        with writer.database.writing() as connection:
            recorder.record(connection, delivery)
        writer.clock.advance(1)


def _write_events(writer: Writer) -> SqlEventLog:
    """Write events of each kind, by the agent and by delegates in turn."""
    job_id = writer.job(sample(Trigger))
    log = writer.stores.events.open(writer.claim(job_id).conversation_id)
    sources = cycle(Source)
    for kind in sorted(get_args(Known), key=lambda one: one.__name__):
        for number, payload in enumerate(samples(kind)):
            own = payload.replace(agent="")
            cause = number or None
            log.append(next(sources), own if number % 2 else payload, cause)
            writer.clock.advance(1)
    return log


def _write_effects(writer: Writer) -> None:
    """Write an outcome of each kind; the first has effects of each kind and state."""
    kinds: tuple[type[BaseModel], ...] = (
        *get_args(RepositoryEffect),
        *get_args(NotificationEffect),
    )
    planned = [one for kind in kinds for one in samples(kind)]
    receipts = cycle(samples(DeliveryResult))
    for outcome in samples(Outcome):
        lease = writer.claim(writer.job(sample(Trigger)))
        lease = writer.stores.outcomes.store(
            lease,
            outcome,
            cast("list[Effect]", planned),
            read_up_to=3,
            now=writer.clock.now(),
            artifacts={
                DIFF: b"+1",
                PLAN_ARTIFACT: sample(RunPlan).model_dump_json().encode(),
            },
        )
        stored = writer.stores.effects.of_job(lease.job_id)
        for number, effect in enumerate(stored):
            _settle(writer, lease, effect.key, number, next(receipts))
        planned = planned[:1]
    lease = writer.claim(writer.job(sample(Trigger)))
    with writer.database.writing() as connection:
        row = {
            "key": f"{lease.job_id}:0:{OF_ANOTHER_VERSION}",
            "job_id": lease.job_id,
            "position": 0,
            "effect": json.dumps({"kind": OF_ANOTHER_VERSION, "more": 1}),
            "state": EffectState.PENDING,
            "due_at": writer.clock.now(),
        }
        connection.execute(insert(effects).values(row))


def _settle(
    writer: Writer, lease: Lease, key: str, number: int, receipt: DeliveryResult
) -> None:
    store = writer.stores.effects
    match number % 4:
        case 0:
            store.mark_done(lease, key, receipt.model_dump_json())
        case 1:
            store.abandon(lease, key, "It never worked.")
        case 2:
            store.mark_failed(lease, key, "Not now.", timedelta(minutes=1))
        case _:
            pass


def _write_people(writer: Writer) -> None:
    """Write accounts, secrets and choices."""
    clock, secrets = writer.clock, writer.secrets
    GitHubAppStore(secrets, APP_URL).put(sample(NewApp))
    SlackInstallationStore(secrets).save(sample(SlackInstallation))
    accounts = writer.stores.accounts
    for number, actor in enumerate(samples(Actor)):
        account = accounts.account_of(actor, f"https://github.test/{number}")
        secrets.put(
            USER_TOKEN, serialize_grant(sample(PersonalToken, number)), owner=account
        )
    store = ChoiceStore(writer.database)
    for name in (DEFAULT_REPOSITORY, consent_name(REPO)):
        store.put("slack:T1/C1", name, str(REPO), by="account:1", now=clock.now())


def _write_operations(writer: Writer) -> None:
    """Write processes, missed deliveries and reservations."""
    presence = sample(ProcessStatus)
    until = presence.seen_at + timedelta(hours=1)
    record_heartbeat(writer.database, presence.replace(until=until))
    missed = MissedDeliveryStore(writer.database, "github")
    missed.note("hook 1", [sample(DeliveryAttempt)])
    for one in missed.take_due("hook 1"):
        missed.mark_asked(one)
    missed.note("hook 2", [sample(DeliveryAttempt, 1)])
    spender = sample(Spender).replace(
        job_id=writer.job(sample(Trigger)), repo=REPO, day=AT.date()
    )
    money = writer.stores.reservations
    made = [money.reserve(spender, 0.1 * number, Ceilings()) for number in range(1, 4)]
    for number, reserved in enumerate(made[:2]):
        assert isinstance(reserved, Reservation)
        money.settle(reserved, 0.05, assumed_usd=0.01 * number)
