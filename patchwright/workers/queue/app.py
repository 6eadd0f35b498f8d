"""The Celery application: it carries job ids from the web process to a worker."""

from collections.abc import Callable
from queue import Empty
from typing import Any, Final, TypeAlias

from celery import Celery
from celery.signals import after_task_publish, task_received
from kombu.exceptions import OperationalError

from patchwright.core.types.base import JobId, RandomIds
from patchwright.workers.queue.interface import BrokerUnavailableError, JobRunner

# What others call it, who need not know that it is Celery.
Queue: TypeAlias = Celery

RUN_JOB: Final = "patchwright.run_job"
SWEEP: Final = "patchwright.sweep"
CATCH_UP: Final = "patchwright.catch_up"
WAKE: Final = "patchwright.wake"
SWEEP_EVERY_S: Final = 20.0
CATCH_UP_EVERY_S: Final = 300.0

# Redis hands a message out again that was not acknowledged in this time, while its task
# may still be running: https://github.com/celery/celery/issues/5935. That would be
# harmless, for the lease is taken; it is far above the length of any run all the same.
_VISIBILITY_TIMEOUT_S: Final = 24 * 3600
# A broker that is away must not hold up the thread that talks to it.
_SOCKET_TIMEOUT_S: Final = 3.0
# How often the broker in memory is asked for news; its default is a second.
_MEMORY_POLL_S: Final = 0.01


def make_celery(broker_url: str, sweep_every_s: float = SWEEP_EVERY_S) -> Celery:
    """Return an application for `memory://` or `redis://`, not connected yet."""
    # Kombu warns of a URL without a host, even where there is none to name.
    address = "memory://localhost//" if _is_memory(broker_url) else broker_url
    app = Celery("patchwright", broker=address, set_as_current=False)
    app.conf.update(
        accept_content=["json"],
        beat_schedule={
            "sweep": _every(sweep_every_s, SWEEP),
            "catch_up": _every(CATCH_UP_EVERY_S, CATCH_UP),
        },
        broker_connection_max_retries=None,
        broker_connection_retry_on_startup=True,
        broker_connection_timeout=_SOCKET_TIMEOUT_S,
        broker_transport_options=_transport_options(broker_url),
        task_default_queue="patchwright",
        task_ignore_result=True,
        task_publish_retry=False,
        worker_enable_remote_control=False,
        worker_hijack_root_logger=False,
        worker_prefetch_multiplier=1,
        worker_redirect_stdouts=False,
    )
    return app


def add_tasks(app: Celery, runner: JobRunner) -> None:
    """Say what a worker of this application does with a message."""

    def run_job(job_id: str) -> None:
        runner.run(JobId(job_id))

    app.task(
        run_job, name=RUN_JOB, acks_late=True, reject_on_worker_lost=True, shared=False
    )
    app.task(runner.sweep, name=SWEEP, shared=False)
    app.task(_wake, name=WAKE, shared=False)


def add_catch_up(app: Celery, catch_up: Callable[[], None]) -> None:
    """Say how a worker looks for deliveries that did not arrive."""

    def look() -> None:
        catch_up()

    app.task(look, name=CATCH_UP, shared=False)


def _every(seconds: float, task: str) -> dict[str, Any]:
    # What nobody had time for is replaced by the next one.
    return {"task": task, "schedule": seconds, "options": {"expires": seconds}}


def _wake() -> None:
    """Make the worker look up."""


def submitter(app: Celery) -> Callable[[JobId], None]:
    """Return what hands a job to the workers, or raises `BrokerUnavailableError`."""

    def submit(job_id: JobId) -> None:
        try:
            app.send_task(RUN_JOB, args=[job_id], retry=False)
        except (OperationalError, OSError) as error:
            raise BrokerUnavailableError(
                f"the broker does not answer: {error}"
            ) from error

    return submit


def _transport_options(broker_url: str) -> dict[str, Any]:
    if _is_memory(broker_url):
        return {"polling_interval": _MEMORY_POLL_S}
    return {
        "visibility_timeout": _VISIBILITY_TIMEOUT_S,
        "socket_timeout": _SOCKET_TIMEOUT_S,
        "socket_connect_timeout": _SOCKET_TIMEOUT_S,
        # For who submits; a worker that waits for its broker tries for ever.
        "max_retries": 0,
    }


def _is_memory(broker_url: str) -> bool:
    return broker_url.startswith("memory:")


def on_message_taken(tell: Callable[[], None]) -> None:
    """Call `tell` each time that a worker of this process has taken a message."""

    def taken(**_: object) -> None:
        tell()

    task_received.connect(taken, weak=False)


def on_message_sent(tell: Callable[[], None]) -> None:
    """Call `tell` each time that the broker has got a message of this process."""

    def sent(**_: object) -> None:
        tell()

    after_task_publish.connect(sent, weak=False)


def broker_answers(app: Celery) -> bool:
    """Ask the broker; takes no longer than its connection may."""
    with app.connection_for_write() as connection:
        try:
            connection.channel().close()
        except (OperationalError, OSError, *connection.connection_errors):
            return False
    return True


_WITHIN_S: Final = 3.0


def check_round_trip(broker_url: str) -> None:
    """Use a queue of its own, which is gone afterwards.

    Raises `BrokerUnavailableError`.
    """
    name = f"patchwright.trial.{RandomIds().new()}"
    try:
        with make_celery(broker_url).connection_for_write() as connection:
            _send_and_take(connection, name)
    except (OperationalError, OSError) as error:
        raise BrokerUnavailableError(f"the broker does not answer: {error}") from error
    except Empty as error:
        words = "the broker took a message and did not give it out"
        raise BrokerUnavailableError(words) from error
    except KeyError as error:
        words = f"queue.broker_url: {error.args[0]}"
        raise BrokerUnavailableError(words) from error


def _send_and_take(connection: Any, name: str) -> None:  # noqa: ANN401 - Celery's
    with connection.SimpleBuffer(name) as probe:
        try:
            probe.put("there and back")
            probe.get(timeout=_WITHIN_S)
        finally:
            probe.queue.delete()
