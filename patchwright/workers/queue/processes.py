"""A worker, or the clock of the sweeps, as a process of its own."""

import logging
from typing import Final

from celery import Celery
from celery.apps.beat import Beat
from celery.apps.worker import Worker
from celery.signals import setup_logging, worker_shutting_down

from patchwright.workers.queue.runner import JobRunner

_LOG_LEVEL: Final = logging.WARNING


def run_worker(app: Celery, runner: JobRunner, concurrency: int) -> int:
    """Run jobs in this process until SIGTERM or SIGINT; return its exit code.

    On the signal the running jobs are asked to give up their leases.
    """

    def stop(**_: object) -> None:
        runner.stop()

    setup_logging.connect(_leave_logging_alone)
    worker_shutting_down.connect(stop)
    worker = Worker(
        app=app,
        pool_cls="threads",
        concurrency=concurrency,
        loglevel=_LOG_LEVEL,
        quiet=True,
        without_gossip=True,
        without_mingle=True,
    )
    worker.start()
    return worker.exitcode or 0


def run_beat(app: Celery) -> None:
    """Send the sweeps at their interval until SIGTERM or SIGINT."""
    setup_logging.connect(_leave_logging_alone)
    # Its default scheduler remembers the last run in a file; a sweep too many is none.
    Beat(
        app=app,
        scheduler_cls="celery.beat:Scheduler",
        loglevel=_LOG_LEVEL,
        quiet=True,
    ).run()


def _leave_logging_alone(**_: object) -> None:
    """Keep Celery from setting up logging: it does not where this signal is heard."""
