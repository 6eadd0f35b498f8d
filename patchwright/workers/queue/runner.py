"""The protocol of what the queue's tasks call."""

from typing import Protocol

from patchwright.core.types.ids import JobId


class JobRunner(Protocol):
    """Runs jobs; the queue only says when. All calls come from several threads."""

    def run(self, job_id: JobId) -> None:
        """Run the job if it is free; to be told of a job twice is normal."""
        ...

    def sweep(self) -> None:
        """Submit what the database says is unfinished, and clear away what is left."""
        ...

    def stop(self) -> None:
        """Make the running jobs give up their leases as soon as they safely can."""
        ...
