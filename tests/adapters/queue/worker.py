"""A worker process: `worker BROKER_URL DATABASE_URL`; it holds a job until stopped."""

import sys
import threading
from contextlib import closing

from patchwright.core.types.base import JobId
from patchwright.workers.db.database import Database
from patchwright.workers.queue.app import add_tasks, make_celery
from patchwright.workers.queue.celery_worker import run_worker
from patchwright.workers.store.leases import LeaseStore

LEASE_S = 3.0


class HoldingRunner:
    """Claims a job, and gives its lease back when it is told to stop."""

    def __init__(self, leases: LeaseStore) -> None:
        self._leases = leases
        self._stopping = threading.Event()

    def run(self, job_id: JobId) -> None:
        lease = self._leases.claim(job_id, "held", LEASE_S)
        if lease is not None:
            self._stopping.wait()
            self._leases.release(lease)

    def sweep(self) -> None:
        """Leave everything where it is."""

    def stop(self) -> None:
        self._stopping.set()


def main(broker_url: str, database_url: str) -> int:
    with closing(Database(database_url)) as database:
        runner = HoldingRunner(LeaseStore(database))
        app = make_celery(broker_url)
        add_tasks(app, runner)
        return run_worker(app, runner, concurrency=2)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
