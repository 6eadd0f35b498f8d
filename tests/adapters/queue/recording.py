"""A runner that claims jobs, and remembers what it was told."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import SimpleQueue

from patchwright.core.types.base import JobId


@dataclass(frozen=True)
class RecordingRunner:
    """Runs a job by calling `work`; `stopping` is set once it was told to stop."""

    work: Callable[[JobId], None] = lambda _job_id: None
    ran: SimpleQueue[JobId] = field(default_factory=SimpleQueue)
    swept: threading.Event = field(default_factory=threading.Event)
    stopping: threading.Event = field(default_factory=threading.Event)

    def run(self, job_id: JobId) -> None:
        self.work(job_id)
        self.ran.put(job_id)

    def sweep(self) -> None:
        self.swept.set()

    def stop(self) -> None:
        self.stopping.set()
