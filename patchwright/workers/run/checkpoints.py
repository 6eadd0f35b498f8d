"""Keep the newest work tree of a run in the database."""

from patchwright.workers.store.job import Lease
from patchwright.workers.store.outcomes import CHECKPOINT, OutcomeStore


class StoredCheckpoints:
    """The `Checkpoints` of a job, for whichever worker has its lease."""

    def __init__(self, outcomes: OutcomeStore, lease: Lease) -> None:
        self._outcomes, self._lease = outcomes, lease

    def save(self, bundle: bytes) -> None:
        self._outcomes.keep_artifact(self._lease, CHECKPOINT, bundle)

    def load(self) -> bytes | None:
        return self._outcomes.load_artifact(self._lease.job_id, CHECKPOINT)
