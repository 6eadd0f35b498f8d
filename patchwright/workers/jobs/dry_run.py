"""A dry run: read everything, write to no service, and store the planned writes."""

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
    """Return the planned writes of a run, in order, each as Markdown."""
    return tuple(one.whole for one in _load(stores.outcomes, job_id))


class DryRun:
    """A `ServiceWriter` that writes nothing, and stores the planned writes.

    For each post only the last edit is stored, because a running run edits often.
    """

    def __init__(
        self, outcomes: OutcomeStore, lease: Lease, redact: Callable[[str], str]
    ) -> None:
        self._outcomes, self._lease, self._redact = outcomes, lease, redact
        self._writes = _load(outcomes, lease.job_id)
        # Another thread of this process shows the status of a run.
        self._lock = threading.Lock()

    def write(
        self,
        planned: Callable[[], PlannedWrite | None],
        carry: Callable[[], T],
        instead: Callable[[], T],
    ) -> T:
        del carry
        write = planned()
        if write is not None:
            with self._lock:
                self._add(write)
        return instead()

    def overwrite(self, planned: PlannedWrite, carry: Callable[[], None]) -> None:
        """Store the planned edit; it replaces earlier edits of the same post."""
        del carry
        with self._lock:
            if planned.post:
                self._writes = [
                    one for one in self._writes if not _is_same(one, planned)
                ]
            self._add(planned)

    def post(
        self,
        planned: PlannedWrite,
        carry: Callable[[], str],
        find: Callable[[str], str | None],
        delete: Callable[[str], None],
    ) -> str:
        """Store the planned post, and return an id for it."""
        del carry, find, delete
        with self._lock:
            number = 1 + sum(bool(one.post) for one in self._writes)
            post = f"rehearsed-{number}"
            self._add(planned.replace(post=post))
        return post

    def find(
        self, thread: str, mark: str, look: Callable[[str], str | None]
    ) -> str | None:
        """Return the id of the newest planned post that contains `mark`."""
        with self._lock:
            fits = (
                one.post
                for one in reversed(self._writes)
                if one.post and one.thread == thread and mark in one.text
            )
            found = next(fits, None)
        return found or look(mark)

    def _add(self, write: PlannedWrite) -> None:
        clean = write.replace(
            words=self._redact(write.words), text=self._redact(write.text)
        )
        self._writes = [*self._writes, clean]
        # Whoever has the job by now tells it anew.
        with suppress(LeaseLostError):
            stored = _PLANNED_WRITES.dump_json(self._writes)
            self._outcomes.keep_artifact(self._lease, DRY_RUN_ARTIFACT, stored)


def _load(outcomes: OutcomeStore, job_id: JobId) -> list[PlannedWrite]:
    stored = outcomes.load_artifact(job_id, DRY_RUN_ARTIFACT)
    return _PLANNED_WRITES.validate_json(stored) if stored else []


def _is_same(one: PlannedWrite, other: PlannedWrite) -> bool:
    return one.is_edit and one.post == other.post


def as_dry_run(services: RunServices, lease: Lease) -> RunServices:
    """Return the services of one run, which only store its planned writes."""
    redact = services.stores.events.redact
    dry_run = DryRun(services.stores.outcomes, lease, lambda text: str(redact(text)))
    return replace(
        with_writer(services, dry_run),
        live=OutboxPublisher(services.stores.effects, lease),
        # A link that is sent to nobody must not be created.
        chat=replace(services.chat, invite=_invite, renew=_invite),
    )


def _invite(_actor: Actor) -> Invitation:
    return Invitation(text="Link your account on the forge with your personal link.")
