"""Keep what a run would write outside, where it is to write nothing."""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from pydantic import TypeAdapter

from patchwright.core.errors import LeaseLostError
from patchwright.core.types.base import Value
from patchwright.core.types.ids import JobId
from patchwright.workers.run.services import Stores
from patchwright.workers.store.job import Lease
from patchwright.workers.store.outcomes import OutcomeStore

DRY_RUN_ARTIFACT: Final = "rehearsal"


class PlannedWrite(Value):
    """One thing that would be written: `words` say what is done with the `text`.

    `post` names a post of `thread` that there would be, or that is there already.
    """

    words: str
    text: str = ""
    thread: str = ""
    post: str = ""
    is_edit: bool = False

    @property
    def whole(self) -> str:
        return f"{self.words}:\n\n{self.text}" if self.text else f"{self.words}."


_PLANNED_WRITES: Final = TypeAdapter(list[PlannedWrite])


def list_planned_writes(stores: Stores, job_id: JobId) -> tuple[str, ...]:
    """Return what a run would have written, in order; Markdown, one text for each."""
    return tuple(one.whole for one in _load(stores.outcomes, job_id))


class DryRun:
    """What one run would write, kept with its job as soon as it is told.

    Of the changes to a post only the last is kept: so much is shown while a run works.
    """

    def __init__(
        self, outcomes: OutcomeStore, lease: Lease, redact: Callable[[str], str]
    ) -> None:
        self._outcomes, self._lease, self._redact = outcomes, lease, redact
        self._told = _load(outcomes, lease.job_id)
        # The status of a run is shown by a thread of its own.
        self._lock = threading.Lock()

    def record(self, words: str, text: str = "") -> None:
        with self._lock:
            self._add(PlannedWrite(words=words, text=text))

    def post(self, thread: str, words: str, text: str) -> str:
        """Tell of a new post and return the id that it has here."""
        with self._lock:
            number = 1 + sum(bool(one.post) for one in self._told)
            post = f"rehearsed-{number}"
            self._add(PlannedWrite(words=words, text=text, thread=thread, post=post))
        return post

    def edit(self, thread: str, post: str, words: str, text: str) -> None:
        changed = PlannedWrite(words=words, text=text, thread=thread, post=post, is_edit=True)
        with self._lock:
            self._told = [
                one for one in self._told if not (one.is_edit and one.post == post)
            ]
            self._add(changed)

    def find(self, thread: str, mark: str) -> str | None:
        """Return the id of the newest post there that contains `mark`."""
        with self._lock:
            fits = (
                one.post
                for one in reversed(self._told)
                if one.post and one.thread == thread and mark in one.text
            )
            return next(fits, None)

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
