"""Handing jobs to a broker that may be away."""

import socket
from collections.abc import Iterator
from queue import SimpleQueue

import pytest

from patchwright.core.system.clock import SystemClock
from patchwright.core.types.base import JobId
from patchwright.workers.inbox.inbox import Dispatcher
from patchwright.workers.queue.app import make_celery, submitter
from patchwright.workers.queue.interface import BrokerUnavailableError
from tests.provision.servers import free_port

# Twice what a connection may take; without a bound it would be for ever.
BOUND_S = 15.0


@pytest.fixture
def silent_url() -> Iterator[str]:
    """Return the URL of a broker that accepts connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"redis://127.0.0.1:{server.getsockname()[1]}/0"


def test_jobs_are_submitted_in_order_and_all_of_them() -> None:
    submitted: list[JobId] = []
    with Dispatcher(submitted.append) as dispatcher:
        for number in range(20):
            dispatcher.dispatch(JobId(f"j{number}"))
    assert submitted == [f"j{number}" for number in range(20)]


def test_a_broker_that_is_not_there_is_an_error_in_bounded_time() -> None:
    _assert_unavailable(f"redis://127.0.0.1:{free_port()}/0")


def test_a_broker_that_says_nothing_is_an_error_in_bounded_time(
    silent_url: str,
) -> None:
    _assert_unavailable(silent_url)


def test_what_a_dead_broker_does_not_take_is_let_go_at_once() -> None:
    tried: SimpleQueue[JobId] = SimpleQueue()
    others_wait: SimpleQueue[None] = SimpleQueue()

    def refuse(job_id: JobId) -> None:
        tried.put(job_id)
        others_wait.get()
        raise BrokerUnavailableError("away")

    with Dispatcher(refuse) as dispatcher:
        for number in range(50):
            dispatcher.dispatch(JobId(f"j{number}"))
        others_wait.put(None)
    assert tried.get_nowait() == "j0"
    assert tried.empty()


def test_when_the_broker_is_back_jobs_are_submitted_again() -> None:
    tried: SimpleQueue[JobId] = SimpleQueue()

    def refuse_first(job_id: JobId) -> None:
        tried.put(job_id)
        if job_id == "j0":
            raise BrokerUnavailableError("away")

    with Dispatcher(refuse_first) as dispatcher:
        dispatcher.dispatch(JobId("j0"))
        assert tried.get(timeout=10) == "j0"
        while tried.empty():
            dispatcher.dispatch(JobId("j1"))
        assert tried.get() == "j1"


def _assert_unavailable(broker_url: str) -> None:
    clock = SystemClock()
    began_at = clock.monotonic()
    with pytest.raises(BrokerUnavailableError):
        submitter(make_celery(broker_url))(JobId("j1"))
    assert clock.monotonic() - began_at < BOUND_S
