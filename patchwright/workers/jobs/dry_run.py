"""A dry run: read everything, write nothing outside, and keep what it would write."""

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Final, TypeVar

from pydantic import TypeAdapter

from patchwright.core.types.base import JobId
from patchwright.core.types.errors import LeaseLostError
from patchwright.core.types.people import Actor
from patchwright.resolver.job import Lease
from patchwright.resolver.messages.planned_writes import PlannedWrite
from patchwright.resolver.publish.destination import Invitation
from patchwright.workers.jobs.guarded_services import with_writer
from patchwright.workers.jobs.lease import OutboxPublisher
from patchwright.workers.store.outcomes import OutcomeStore
from patchwright.workers.store.run_store import RunServices, Stores

DRY_RUN_ARTIFACT: Final = "rehearsal"

T = TypeVar("T")

_PLANNED_WRITES: Final = TypeAdapter(list[PlannedWrite])


def list_planned_writes(stores: Stores, job_id: JobId) -> tuple[str, ...]:
    """Return what a run would have written, in order; Markdown, one text for each."""
    return tuple(one.whole for one in _load(stores.outcomes, job_id))


class DryRun:
    """A `ServiceWriter` that writes nothing, and keeps what a run would write.

    Of the changes to a post only the last is kept: so much is shown while a run works.
    """

    def __init__(
        self, outcomes: OutcomeStore, lease: Lease, redact: Callable[[str], str]
    ) -> None:
        self._outcomes, self._lease, self._redact = outcomes, lease, redact
        self._told = _load(outcomes, lease.job_id)
        # The status of a run is shown by a thread of its own.
        self._lock = threading.Lock()

    def write(
        self,
        planned: Callable[[], PlannedWrite | None],
        carry: Callable[[], T],
        instead: Callable[[], T],
    ) -> T:
        del carry
        told = planned()
        if told is not None:
            with self._lock:
                self._add(told)
        return instead()

    def overwrite(self, planned: PlannedWrite, carry: Callable[[], None]) -> None:
        """Keep it; of the changes to one post that is the only one that is kept."""
        del carry
        with self._lock:
            if planned.post:
                self._told = [one for one in self._told if not _is_same(one, planned)]
            self._add(planned)

    def post(
        self,
        planned: PlannedWrite,
        carry: Callable[[], str],
        find: Callable[[str], str | None],
        delete: Callable[[str], None],
    ) -> str:
        """Keep it and return the id that it has here."""
        del carry, find, delete
        with self._lock:
            number = 1 + sum(bool(one.post) for one in self._told)
            post = f"rehearsed-{number}"
            self._add(planned.replace(post=post))
        return post

    def find(
        self, thread: str, mark: str, look: Callable[[str], str | None]
    ) -> str | None:
        """Return the id of the newest post there that contains `mark`."""
        with self._lock:
            fits = (
                one.post
                for one in reversed(self._told)
                if one.post and one.thread == thread and mark in one.text
            )
            found = next(fits, None)
        return found or look(mark)

    def _add(self, told: PlannedWrite) -> None:
        clean = told.replace(
            words=self._redact(told.words), text=self._redact(told.text)
        )
        self._told = [*self._told, clean]
        # Whoever has the job by now tells it anew.
        with suppress(LeaseLostError):
            kept = _PLANNED_WRITES.dump_json(self._told)
            self._outcomes.keep_artifact(self._lease, DRY_RUN_ARTIFACT, kept)


def _load(outcomes: OutcomeStore, job_id: JobId) -> list[PlannedWrite]:
    kept = outcomes.load_artifact(job_id, DRY_RUN_ARTIFACT)
    return _PLANNED_WRITES.validate_json(kept) if kept else []


def _is_same(one: PlannedWrite, other: PlannedWrite) -> bool:
    return one.is_edit and one.post == other.post


def as_dry_run(services: RunServices, lease: Lease) -> RunServices:
    """Return the services of one run, which keep what it would write."""
    redact = services.stores.events.redact
    dry_run = DryRun(services.stores.outcomes, lease, lambda text: str(redact(text)))
    return replace(
        with_writer(services, dry_run),
        live=OutboxPublisher(services.stores.effects, lease),
        # A link that is sent to nobody must not be made.
        chat=replace(services.chat, invite=_invite, renew=_invite),
    )


def _invite(_actor: Actor) -> Invitation:
    return Invitation(text="Show who you are where the code lives, by a link of yours.")
