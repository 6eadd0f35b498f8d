"""Worker and beat as processes of their own, on a real Redis."""

import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from queue import SimpleQueue

import pytest
from celery import Celery

from patchwright.core.system.clock import SystemClock
from patchwright.core.types.base import JobId
from patchwright.resolver.job import JobState, Lease
from patchwright.workers.db.database import Database
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.queue.app import add_tasks, make_celery, submitter
from patchwright.workers.queue.celery_worker import embedded_worker
from tests.adapters.queue.recording import RecordingRunner
from tests.adapters.queue.worker import LEASE_S
from tests.adapters.store.world import World
from tests.fakes.clock import FakeClock
from tests.provision.starter import Started, ready_starter
from tests.provision.waiting import wait_until

START_S = 30.0


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with closing(Database(f"sqlite:///{tmp_path}/queue.db")) as database:
        upgrade(database)
        # The worker processes live by the machine's clock, so this starts there.
        yield World(database, FakeClock(SystemClock().now()))


def test_at_sigterm_a_worker_gives_its_job_back(world: World, redis_url: str) -> None:
    job_id = world.ask()
    submit = submitter(make_celery(redis_url))
    with _program("worker", redis_url, _url(world)) as process:
        submit(job_id)
        wait_until(lambda: _state(world, job_id) == JobState.RUNNING, "run", START_S)
        process.send_signal(signal.SIGTERM)
        assert process.wait(START_S) == 0
    assert _state(world, job_id) == JobState.QUEUED
    assert world.job(job_id).attempts == 0


def test_s77_a_job_that_is_submitted_twice_is_run_once(
    world: World, redis_url: str
) -> None:
    job_id = world.ask()
    leases: SimpleQueue[Lease | None] = SimpleQueue()
    runner = RecordingRunner(work=lambda told: leases.put(_claim(world, told)))
    app = make_celery(redis_url)
    add_tasks(app, runner)
    with embedded_worker(app, runner, concurrency=2):
        submitter(app)(job_id)
        submitter(app)(job_id)
        both = [leases.get(timeout=START_S) for _ in range(2)]
    assert sum(lease is not None for lease in both) == 1


def test_the_job_of_a_killed_worker_is_found_and_run_by_another(
    world: World, redis_url: str
) -> None:
    job_id = world.ask()
    leases: SimpleQueue[Lease | None] = SimpleQueue()
    app = make_celery(redis_url)
    submitter(app)(job_id)
    with _program("worker", redis_url, _url(world)) as process:
        wait_until(lambda: _state(world, job_id) == JobState.RUNNING, "run", START_S)
        process.kill()
    runner = RecordingRunner(work=lambda told: leases.put(_claim(world, told)))
    add_tasks(app, runner)
    with embedded_worker(app, runner, concurrency=1):
        wait_until(lambda: _resubmit(world, app) == (job_id,), "lease", LEASE_S + 10)
        lease = leases.get(timeout=START_S)
    assert lease is not None
    assert (lease.job_id, lease.attempt) == (job_id, 2)


def test_beat_sends_sweeps_to_the_workers(redis_url: str) -> None:
    here, sent = RecordingRunner(), RecordingRunner()
    app = make_celery(redis_url)
    add_tasks(app, sent)
    with _program("beat", redis_url), embedded_worker(app, here, concurrency=1):
        assert sent.swept.wait(START_S)


@contextmanager
def _program(name: str, *arguments: str) -> Iterator[Started]:
    process = ready_starter().start_module(f"tests.adapters.queue.{name}", *arguments)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _url(world: World) -> str:
    return world.database.engine.url.render_as_string(hide_password=False)


def _state(world: World, job_id: JobId) -> JobState:
    return world.job(job_id).state


def _claim(world: World, job_id: JobId) -> Lease | None:
    return world.leases.claim(job_id, "another", LEASE_S)


def _resubmit(world: World, app: Celery) -> tuple[JobId, ...]:
    """Do what a sweep does."""
    found = world.jobs.take_unfinished(0)
    for job_id in found:
        submitter(app)(job_id)
    return found
