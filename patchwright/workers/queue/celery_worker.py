"""Celery workers, as a thread or as a process, and the process of its timer."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Final

import structlog
from celery import Celery
from celery.apps.beat import Beat
from celery.apps.worker import Worker
from celery.signals import setup_logging, worker_shutting_down
from celery.worker import WorkController, state
from kombu.exceptions import OperationalError

from patchwright.workers.queue.app import SWEEP_EVERY_S, WAKE
from patchwright.workers.queue.interface import JobRunner, repeat_in_background

_STOP_S: Final = 30.0

log = structlog.get_logger(__name__)


@contextmanager
def embedded_worker(
    app: Celery,
    runner: JobRunner,
    concurrency: int,
    sweep_every_s: float = SWEEP_EVERY_S,
) -> Iterator[None]:
    """Run jobs, and sweep, until the context is left; one at a time in a process.

    Leaving it asks the running jobs to give up their leases and waits for them.
    """
    # The threads of its pool find the application by this.
    app.set_default()
    worker = WorkController(
        app=app,
        pool_cls="threads",
        concurrency=concurrency,
        without_gossip=True,
        without_heartbeat=True,
        without_mingle=True,
    )
    # A daemon, as it cannot be stopped while it looks for a broker that is away.
    thread = threading.Thread(target=worker.start, name="celery-worker", daemon=True)
    thread.start()
    try:
        with repeat_in_background(
            partial(_sweep, app, runner, sweep_every_s), sweep_every_s
        ):
            yield
    finally:
        runner.stop()
        _stop(app, thread)


def _sweep(app: Celery, runner: JobRunner, every_s: float) -> None:
    runner.sweep()
    # Whether its messages are taken shows whether the worker lives.
    with suppress(OperationalError, OSError):
        app.send_task(WAKE, retry=False, expires=every_s)


def _stop(app: Celery, worker: threading.Thread) -> None:
    # Celery's own signal handlers set this flag. The worker's loop reads it after a
    # message or two seconds, and then goes round once more.
    state.should_stop = 0
    with suppress(OperationalError, OSError):
        app.send_task(WAKE, retry=False)
        app.send_task(WAKE, retry=False)
    worker.join(_STOP_S)
    if worker.is_alive():
        log.warning("worker_does_not_stop", waited_s=_STOP_S)
    state.should_stop = None


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
    """Keep Celery from setting up logging: it does not if this signal has a handler."""
