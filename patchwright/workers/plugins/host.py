"""What the plug-ins of services use of the service that they are part of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

import structlog

from patchwright.core.plugin_host import PersonSummary, ShownRun
from patchwright.core.system.clock import Clock, start_call
from patchwright.core.types.base import JobId
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import RepoRef
from patchwright.core.types.triggers import (
    Challenge,
    InstallationChanged,
    InteractionRequest,
)
from patchwright.core.webhook import (
    InboxUnavailableError,
    WebhookSource,
    make_delivery,
)
from patchwright.resolver.job import Job
from patchwright.resolver.messages.elements import cost_text
from patchwright.resolver.run_store import DEFAULT_REPOSITORY
from patchwright.workers.db.database import Database
from patchwright.workers.inbox.inbox import Inbox
from patchwright.workers.inbox.lifecycle_events import has_lost_access
from patchwright.workers.plugins.people import PersonDirectory
from patchwright.workers.plugins.repository_search import RepositorySearch
from patchwright.workers.runs.run_row import state_words
from patchwright.workers.store.choices import ChoiceStore
from patchwright.workers.store.jobs import JobStore, list_active_jobs

log = structlog.get_logger(__name__)

STORED_WITHIN_S: Final = 10.0


@dataclass(frozen=True)
class SocketDeliveries:
    """Returns what the sender waits for, once the delivery is stored."""

    service: str
    inbox: Inbox
    clock: Clock

    def __call__(
        self, source: WebhookSource, headers: Mapping[str, str], body: bytes
    ) -> dict[str, object] | None:
        reading = source.receiver.read(headers, body)
        if isinstance(reading, Challenge):
            return None
        if isinstance(reading, InteractionRequest):
            return _answer(source, reading)
        delivery = make_delivery(
            self.service,
            source,
            reading,
            headers=headers,
            body=body,
            received_at=self.clock.now(),
        )
        try:
            stored = self.inbox.submit(delivery).result(STORED_WITHIN_S)
        except TimeoutError:
            raise InboxUnavailableError("the database takes too long") from None
        log.info(
            "delivery_stored",
            service=self.service,
            verdict=stored.verdict,
            delivery_id=delivery.id,
            **stored.ids,
        )
        return None


def _answer(
    source: WebhookSource, prompt: InteractionRequest
) -> dict[str, object] | None:
    handler = source.interactions
    if handler is None:
        return None
    answer = handler.answer(prompt)
    start_call(partial(handler.follow, prompt))
    return dict(answer) or None


@dataclass(frozen=True)
class PersonPages:
    """A `PersonServices`; `find_link` returns a link that opens a run."""

    people: PersonDirectory
    choices: ChoiceStore
    jobs: JobStore
    repositories: RepositorySearch
    find_link: Callable[[JobId, datetime], str]
    clock: Clock

    def find_repositories(self, actor: Actor, query: str) -> tuple[str, ...]:
        person = self.people.find(actor)
        return self.repositories.find(query, person) if person else ()

    def choose_repository(self, actor: Actor, full_name: str) -> None:
        """Keep a person's default; who is not known on the forge has none."""
        person = self.people.find(actor)
        if person is None:
            return
        scope = self.people.scope_of(person)
        if not full_name:
            self.choices.forget(scope, DEFAULT_REPOSITORY)
            return
        repo = RepoRef(forge=self.people.forge.name, full_name=full_name)
        now = self.clock.now()
        self.choices.put(scope, DEFAULT_REPOSITORY, str(repo), by=scope, now=now)

    def summarize(self, actor: Actor, max_runs: int) -> PersonSummary:
        person = self.people.find(actor)
        shown = tuple(map(self._shown, self.jobs.newest_of(actor, max_runs)))
        if person is None:
            return PersonSummary(runs=shown)
        default = self.choices.default_of(self.people.scope_of(person))
        return PersonSummary(
            runs=shown,
            repository=default.full_name if default else "",
            linked_as=person.login,
        )

    def _shown(self, job: Job) -> ShownRun:
        return ShownRun(
            state=state_words(job),
            title=job.trigger.title,
            url=self.find_link(job.id, job.created_at),
            cost=cost_text(job.outcome.usage) if job.outcome else "",
        )


def find_affected(
    database: Database, notice: InstallationChanged
) -> frozenset[RepoRef | None]:
    """Return where the jobs work that lose their access by a notice."""
    with database.reading() as connection:
        return frozenset(
            one.trigger.place
            for one in list_active_jobs(connection)
            if has_lost_access(notice, one)
        )
