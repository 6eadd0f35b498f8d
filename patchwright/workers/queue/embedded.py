"""A Celery worker as a thread of the service's own process."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Final

import structlog
from celery import Celery
from celery.worker import WorkController, state
from kombu.exceptions import OperationalError

from patchwright.workers.queue.app import SWEEP_EVERY_S, WAKE
from patchwright.workers.queue.periodic import repeat_in_background
from patchwright.workers.queue.runner import JobRunner

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
        with repeat_in_background(partial(_sweep, app, runner, sweep_every_s), sweep_every_s):
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
