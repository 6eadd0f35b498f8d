"""The worker inside the service's process, on both brokers."""

import threading
from queue import SimpleQueue

import pytest

from patchwright.core.system.clock import SystemClock
from patchwright.core.types.base import JobId
from patchwright.workers.queue.app import (
    add_catch_up,
    add_tasks,
    make_celery,
    submitter,
)
from patchwright.workers.queue.celery_worker import embedded_worker
from tests.adapters.queue.recording import RecordingRunner

SOON_S = 10.0


@pytest.fixture(params=["memory", "redis"])
def broker_url(request: pytest.FixtureRequest) -> str:
    if request.param == "memory":
        return "memory://"
    url: str = request.getfixturevalue("redis_url")
    return url


def test_a_submitted_job_is_run(broker_url: str) -> None:
    runner = RecordingRunner()
    app = make_celery(broker_url)
    add_tasks(app, runner)
    with embedded_worker(app, runner, concurrency=2):
        submitter(app)(JobId("j1"))
        assert runner.ran.get(timeout=SOON_S) == "j1"


def test_it_sweeps_at_the_start(broker_url: str) -> None:
    runner = RecordingRunner()
    app = make_celery(broker_url)
    add_tasks(app, runner)
    with embedded_worker(app, runner, concurrency=1):
        assert runner.swept.wait(SOON_S)


def test_it_looks_for_missed_deliveries_when_it_is_told_to(broker_url: str) -> None:
    runner = RecordingRunner()
    looked = threading.Event()
    app = make_celery(broker_url)
    add_tasks(app, runner)
    add_catch_up(app, looked.set)
    with embedded_worker(app, runner, concurrency=1):
        app.send_task(app.conf.beat_schedule["catch_up"]["task"], retry=False)
        assert looked.wait(SOON_S)


def test_jobs_run_side_by_side_up_to_the_limit(broker_url: str) -> None:
    both_here = threading.Barrier(2)
    runner = RecordingRunner(work=lambda _job_id: _meet(both_here))
    app = make_celery(broker_url)
    add_tasks(app, runner)
    with embedded_worker(app, runner, concurrency=2):
        for name in ("j1", "j2"):
            submitter(app)(JobId(name))
        assert {runner.ran.get(timeout=SOON_S) for _ in range(2)} == {"j1", "j2"}


def test_leaving_asks_the_running_job_to_stop_and_waits_for_it() -> None:
    started: SimpleQueue[JobId] = SimpleQueue()
    stopping = threading.Event()

    def hold(job_id: JobId) -> None:
        started.put(job_id)
        stopping.wait(SOON_S)

    runner = RecordingRunner(work=hold, stopping=stopping)
    app = make_celery("memory://")
    add_tasks(app, runner)
    with embedded_worker(app, runner, concurrency=1):
        submitter(app)(JobId("j1"))
        started.get(timeout=SOON_S)
        assert runner.ran.empty()
    assert runner.ran.get_nowait() == "j1"


def test_a_job_that_fails_does_not_keep_the_next_one_from_running() -> None:
    def fail_first(job_id: JobId) -> None:
        if job_id == "j1":
            raise RuntimeError("a fault of the runner")

    runner = RecordingRunner(work=fail_first)
    app = make_celery("memory://")
    add_tasks(app, runner)
    with embedded_worker(app, runner, concurrency=1):
        for name in ("j1", "j2"):
            submitter(app)(JobId(name))
        assert runner.ran.get(timeout=SOON_S) == "j2"


def test_the_broker_in_memory_starts_a_job_within_a_moment() -> None:
    clock = SystemClock()
    runner = RecordingRunner()
    app = make_celery("memory://")
    add_tasks(app, runner)
    waits_s = []
    with embedded_worker(app, runner, concurrency=1):
        for number in range(11):
            submitted_at = clock.monotonic()
            submitter(app)(JobId(f"j{number}"))
            runner.ran.get(timeout=SOON_S)
            waits_s.append(clock.monotonic() - submitted_at)
    assert sorted(waits_s)[5] < 0.1


def _meet(barrier: threading.Barrier) -> None:
    barrier.wait(SOON_S)
