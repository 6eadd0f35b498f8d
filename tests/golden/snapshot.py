"""All that a database holds, as the product's own stores return it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from hashlib import sha256
from typing import Any, Final

from pydantic import SecretStr, TypeAdapter
from sqlalchemy import Table, select

from patchwright.core.agent.view import ChatView
from patchwright.core.events.log import Notifier
from patchwright.core.events.state import RunState, fold
from patchwright.core.events.types import Event
from patchwright.core.llm.wire import wire_messages
from patchwright.core.replay.trajectory import facts_of, split_runs
from patchwright.core.system.clock import Clock
from patchwright.core.system.crypto import KeyRing
from patchwright.core.types.base import AccountId, ConversationId, Ids, JobId, RandomIds
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.github.setup import GitHubAppStore
from patchwright.integrations.slack.tokens import SlackInstallationStore
from patchwright.resolver.job import Job
from patchwright.resolver.run_plan import PLAN_ARTIFACT, RunPlan
from patchwright.resolver.run_store import load_images
from patchwright.workers.compose import make_stores
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import (
    account_audit,
    accounts,
    choices,
    conversations,
    deliveries,
    ended_runs,
    hook_marks,
    identities,
    jobs,
    link_requests,
    missed_deliveries,
    reservations,
    secrets_table,
    threads,
)
from patchwright.workers.inbox.missed_deliveries import MissedDeliveryStore
from patchwright.workers.ops.health import live_processes
from patchwright.workers.runs.reader import RunReader
from patchwright.workers.runs.run_row import row_of_job
from patchwright.workers.store.account_links import LinkStore
from patchwright.workers.store.accounts import actor_of
from patchwright.workers.store.choices import ChoiceStore
from patchwright.workers.store.identity_tokens import USER_TOKEN, parse_grant
from patchwright.workers.store.jobs import list_active_jobs
from patchwright.workers.store.run_store import Stores
from patchwright.workers.store.secrets import SecretStore
from patchwright.workers.store.threads import find_asker, list_own_pulls

KEY: Final = bytes(32)
MODEL: Final = "openai/scripted"
# The kind of an effect that no version knows.
OF_ANOTHER_VERSION: Final = "of_another_version"
APP_URL: Final = "https://github.test/api/v3"
# What no store returns whole is compared row by row.
_ROWS: Final[tuple[Table, ...]] = (
    account_audit,
    accounts,
    conversations,
    deliveries,
    ended_runs,
    jobs,
    missed_deliveries,
    reservations,
)
_JSON: Final[TypeAdapter[Any]] = TypeAdapter(Any)


def snapshot(database: Database, clock: Clock) -> dict[str, Any]:
    """Return it as JSON; the clock stands where the database was recorded."""
    return _Snapshot(database, clock).whole()


def open_stores(database: Database, clock: Clock, ids: Ids) -> Stores:
    return make_stores(database, lambda tree: tree, clock, ids, Notifier())


def known_keys() -> KeyRing:
    return KeyRing({"k1": KEY}, "k1")


# Fields that have another name now, and are still read by the former one.
RENAMED: Final = {"pr": "deliver"}


def _name_in(found: dict[str, Any], key: str) -> str:
    return key if key in found else RENAMED.get(key, key)


def contains(found: Any, recorded: Any, where: str = "") -> list[str]:
    """Name what is not as it was recorded; more fields than there were are fine."""
    if isinstance(recorded, dict) and isinstance(found, dict):
        names = {key: _name_in(found, key) for key in recorded}
        lost = [f"{where}.{key}: lost" for key in recorded if names[key] not in found]
        parts = (
            contains(found[name], recorded[key], f"{where}.{key}")
            for key, name in names.items()
            if name in found
        )
        return [*lost, *(one for part in parts for one in part)]
    if isinstance(recorded, list) and isinstance(found, list):
        if len(recorded) != len(found):
            return [f"{where}: {len(found)} and not {len(recorded)}"]
        pairs = enumerate(zip(found, recorded, strict=True))
        parts = (contains(one, was, f"{where}[{n}]") for n, (one, was) in pairs)
        return [one for part in parts for one in part]
    return [] if found == recorded else [f"{where}: {found!r} and not {recorded!r}"]


def prompts(events: Sequence[Event], images: Iterable[Any] = ()) -> dict[str, Any]:
    """Return the chat of each agent as it is sent, but for what the product says."""
    return {
        agent: _chat(ChatView("", agent, () if agent else images), events)
        for agent in sorted({event.payload.agent for event in events})
    }


def _chat(view: ChatView, events: Sequence[Event]) -> list[Any]:
    for event in events:
        view.add(event)
    _system, *said = wire_messages(
        view.messages(), MODEL, cache_marks=False, images=True
    )
    return said


@dataclass(frozen=True)
class _Snapshot:
    database: Database
    clock: Clock

    def whole(self) -> dict[str, Any]:
        found = {
            "conversations": self._each(conversations.c.id, self._conversation),
            "jobs": self._each(jobs.c.id, self._job),
            "threads": self._threads(),
            "identities": self._identities(),
            "links": self._each(
                link_requests.c.digest, LinkStore(self.database, self.clock).find
            ),
            "choices": self._choices(),
            "secrets": self._secrets(),
            "missed": self._missed(),
            "processes": live_processes(self.database),
            "spent": self._stores.reservations.dearest_usd(self.clock.now().date()),
            "rows": {table.name: self._rows(table) for table in _ROWS},
        }
        with self.database.reading() as connection:
            found["active"] = list_active_jobs(connection)
        plain: dict[str, Any] = _JSON.dump_python(found, mode="json")
        return plain

    @property
    def _stores(self) -> Stores:
        return open_stores(self.database, self.clock, RandomIds())

    def _each(self, column: Any, read: Callable[[Any], object]) -> dict[str, object]:
        with self.database.reading() as connection:
            ids = sorted(connection.scalars(select(column)))
        return {str(one): read(one) for one in ids}

    def _rows(self, table: Table) -> list[dict[str, object]]:
        with self.database.reading() as connection:
            rows = connection.execute(select(table)).mappings()
            return sorted(({**row} for row in rows), key=str)

    def _conversation(self, conversation_id: ConversationId) -> dict[str, object]:
        stores = self._stores
        with self.database.reading() as connection:
            asker = find_asker(connection, conversation_id)
        events = stores.events.open(conversation_id).read()
        return {
            "repository": stores.threads.repository_of(conversation_id),
            "threads": stores.threads.threads_of(conversation_id),
            "newest_run": stores.jobs.newest_run(conversation_id),
            "asker": asker,
            "events": events,
            "runs": [self._run(run) for run in split_runs(events)],
        }

    def _run(self, events: Sequence[Event]) -> dict[str, object]:
        facts = facts_of(events)
        images = load_images(
            partial(self._stores.outcomes.load_artifact, JobId(facts.run_id))
        ).values()
        return {
            "facts": facts,
            "state": reduce(fold, events, RunState()),
            "prompts": prompts(events, images),
        }

    def _job(self, job_id: JobId) -> dict[str, object]:
        stores = self._stores
        job = stores.jobs.load(job_id)
        assert job is not None
        plan = stores.outcomes.load_artifact(job_id, PLAN_ARTIFACT)
        work = stores.outcomes.load_work(job_id)
        return {
            "job": job,
            "listed": self._listed(job),
            "delivery": stores.jobs.delivery_of(job_id),
            "effects": stores.effects.of_job(job_id),
            "joined": stores.requests.joined(job_id),
            "spent_usd": stores.reservations.spent_usd(job_id),
            "plan": plan and RunPlan.model_validate_json(plan),
            "images": load_images(partial(stores.outcomes.load_artifact, job_id)),
            "work": _digest(work or b""),
        }

    def _listed(self, job: Job) -> dict[str, object]:
        stores = self._stores
        reader = RunReader(stores.jobs, stores.events, stores.outcomes, stores.effects)
        span = reader.span(job)
        return {
            "span": span,
            "row": row_of_job(job, reader.summarize(job, span)),
            "delivered": reader.delivered(job),
            "diff": reader.diff(job),
        }

    def _threads(self) -> dict[str, object]:
        with self.database.reading() as connection:
            rows = connection.execute(select(threads).order_by(threads.c.key)).all()
            pulls = [
                list_own_pulls(
                    connection,
                    RepoRef(forge=forge, full_name=name),
                    row.base_branch,
                    9,
                )
                for row in rows
                if row.base_branch
                for forge, _, name in [row.key.partition("#")[0].partition(":")]
            ]
        return {
            "own_pulls": pulls,
            "rows": [{**row._mapping} for row in rows],
            "newest": self._stores.threads.newest_repositories("github"),
        }

    def _identities(self) -> list[dict[str, object]]:
        with self.database.reading() as connection:
            found = connection.execute(select(identities).order_by(identities.c.id))
            rows = found.all()
        return [self._identity(actor_of(row), row) for row in rows]

    def _identity(self, actor: Actor, row: Any) -> dict[str, object]:
        people = self._stores.accounts
        host = row.host
        at_home = actor.replace(host=host)
        return {
            "actor": at_home,
            "account": people.known(at_home, host),
            "people": {
                one: people.person_of(at_home, "github", one)
                for one in self._forge_hosts()
            },
            "grant": self._grant(row.account_id),
            "row": {**row._mapping},
        }

    def _forge_hosts(self) -> list[str]:
        ours = select(identities.c.host).where(identities.c.service == "github")
        with self.database.reading() as connection:
            return sorted(set(connection.scalars(ours)))

    def _grant(self, account_id: AccountId) -> dict[str, object] | None:
        store = SecretStore(self.database, known_keys(), self.clock)
        text = store.fetch(USER_TOKEN, owner=account_id)
        if text is None:
            return None
        grant = parse_grant(text)
        return {
            "access_token": _hidden(grant.access_token),
            "refresh_token": _hidden(grant.refresh_token),
            "expires_at": grant.expires_at,
        }

    def _choices(self) -> list[object]:
        store = ChoiceStore(self.database)
        with self.database.reading() as connection:
            rows = connection.execute(select(choices.c.scope, choices.c.name)).all()
        return [
            [scope, name, store.get(scope, name), store.default_of(scope)]
            for scope, name in sorted(map(tuple, rows))
        ]

    def _secrets(self) -> dict[str, object]:
        store = SecretStore(self.database, known_keys(), self.clock)
        with self.database.reading() as connection:
            rows = connection.execute(
                select(secrets_table.c.owner, secrets_table.c.name)
            ).all()
        found = {
            f"{owner} {name}": store.fetch(name, owner=owner)
            for owner, name in sorted(map(tuple, rows))
        }
        installations = SlackInstallationStore(store)
        return {
            "app": GitHubAppStore(store, APP_URL).fetch(),
            "installations": {
                one: _hidden(installations.token_of(one)) for one in installations.ids()
            },
            "by_name": {key: _hidden(value) for key, value in found.items()},
            "survey": [[one.key_id, one.stored, one.closed] for one in store.survey()],
        }

    def _missed(self) -> dict[str, object]:
        store = MissedDeliveryStore(self.database, "github")
        with self.database.reading() as connection:
            sources = sorted(connection.scalars(select(hook_marks.c.source)))
        return {
            one: {"up_to": store.read_up_to(one), "due": store.take_due(one)}
            for one in sources
        }


def _hidden(secret: SecretStr | None) -> str:
    """Return what tells a secret from others without being it."""
    return _digest(secret.get_secret_value().encode()) if secret else ""


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()
