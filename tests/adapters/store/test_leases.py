"""Who may run a job: one worker at a time, and only the newest."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta

import pytest
from sqlalchemy import text

from patchwright.core.system.clock import SystemClock
from patchwright.core.types.base import JobId, RandomIds
from patchwright.core.types.errors import LeaseLostError
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Outcome
from patchwright.resolver.job import JobState
from patchwright.workers.compose import make_stores
from patchwright.workers.db.database import Database
from patchwright.workers.db.upgrade import upgrade
from tests.adapters.store.world import LEASE_S, World
from tests.fakes.clock import FakeClock

STOPPED = Outcome(kind=OutcomeKind.STOPPED)


def test_a_claimed_job_is_running_and_cannot_be_claimed_again(world: World) -> None:
    job_id = world.ask()
    lease = world.claim(job_id, "w1")
    assert world.job(job_id).state is JobState.RUNNING
    assert (lease.state, lease.attempt) == (JobState.RUNNING, 1)
    assert world.leases.claim(job_id, "w2", LEASE_S) is None


def test_a_lease_that_ran_out_is_free_and_raises_the_fence(world: World) -> None:
    job_id = world.ask()
    first = world.claim(job_id, "w1")
    world.clock.advance(LEASE_S)
    second = world.claim(job_id, "w2")
    assert second.fence > first.fence
    assert second.attempt == 2


def test_a_heartbeat_keeps_others_away(world: World) -> None:
    job_id = world.ask()
    lease = world.claim(job_id, "w1")
    world.clock.advance(LEASE_S - 1)
    world.leases.heartbeat(lease, LEASE_S)
    world.clock.advance(LEASE_S - 1)
    assert world.leases.claim(job_id, "w2", LEASE_S) is None


def test_the_holder_of_an_old_lease_can_do_nothing(world: World) -> None:
    job_id = world.ask()
    old = world.claim(job_id, "w1")
    world.clock.advance(LEASE_S)
    world.claim(job_id, "w2")
    now = world.clock.now()
    with pytest.raises(LeaseLostError):
        world.leases.heartbeat(old, LEASE_S)
    with pytest.raises(LeaseLostError):
        world.leases.release(old)
    with pytest.raises(LeaseLostError):
        world.outcomes.store(old, STOPPED, (), read_up_to=0, now=now)
    with pytest.raises(LeaseLostError):
        world.outcomes.finish(old, JobState.DONE, now)
    assert world.job(job_id).state is JobState.RUNNING


def test_a_released_job_is_queued_and_its_attempt_does_not_count(world: World) -> None:
    job_id = world.ask()
    lease = world.claim(job_id)
    world.leases.release(lease)
    with pytest.raises(LeaseLostError):
        world.leases.heartbeat(lease, LEASE_S)
    assert world.job(job_id).state is JobState.QUEUED
    assert world.jobs.take_unfinished(60) == (job_id,)
    assert world.claim(job_id).attempt == 1


def test_releasing_while_delivering_keeps_the_outcome(world: World) -> None:
    job_id = world.ask()
    lease = world.claim(job_id)
    world.outcomes.store(lease, STOPPED, (), read_up_to=0, now=world.clock.now())
    world.leases.release(lease)
    again = world.claim(job_id, "w2")
    assert (again.state, again.attempt) == (JobState.DELIVERING, 1)
    assert world.job(job_id).outcome == STOPPED


def test_a_job_that_ended_cannot_be_claimed(world: World) -> None:
    job_id = world.ask()
    world.outcomes.finish(world.claim(job_id), JobState.CANCELLED, world.clock.now())
    world.clock.advance(2 * LEASE_S)
    assert world.leases.claim(job_id, "w2", LEASE_S) is None


def test_nobody_can_claim_a_job_that_is_not_there(world: World) -> None:
    assert world.leases.claim(JobId("no"), "w1", LEASE_S) is None


def test_s77_of_many_workers_that_get_a_job_one_runs_it(world: World) -> None:
    job_id = world.ask()
    with ThreadPoolExecutor(8) as workers:
        leases = workers.map(
            lambda name: world.leases.claim(job_id, name, LEASE_S), "abcdefgh"
        )
        assert sum(lease is not None for lease in leases) == 1


def test_m13_a_clock_that_is_ahead_takes_no_job_from_a_living_worker(
    database_url: str,
) -> None:
    ahead = FakeClock(SystemClock().now() + timedelta(hours=1))
    with closing(Database(database_url)) as database:
        upgrade(database)
        living = World(database)
        job_id = living.ask()
        assert living.claim(job_id, "w1").attempt == 1
        stores = make_stores(
            database, lambda tree: tree, ahead, RandomIds(), living.notifier
        )
        assert stores.leases.claim(job_id, "w2", LEASE_S) is None
        assert stores.jobs.take_unfinished(0.0) == ()


AN_HOUR_AHEAD = (
    "CREATE SCHEMA ahead",
    """
    CREATE FUNCTION ahead.clock_timestamp() RETURNS timestamptz LANGUAGE sql
    AS $$ SELECT pg_catalog.clock_timestamp() + interval '1 hour' $$
    """,
)


def test_m13_the_time_of_leases_is_the_databases_own(postgres_url: str) -> None:
    with closing(Database(postgres_url)) as database:
        upgrade(database)
        with database.writing() as connection:
            for statement in AN_HOUR_AHEAD:
                connection.execute(text(statement))
    ahead_url = f"{postgres_url}?options=-csearch_path%3Dahead,pg_catalog,public"
    with closing(Database(ahead_url)) as database:
        world = World(database)
        lease = world.claim(world.ask(), "w1")
        since = lease.until - timedelta(seconds=LEASE_S) - SystemClock().now()
        assert abs(since - timedelta(hours=1)) < timedelta(minutes=1)
        world.leases.heartbeat(lease, LEASE_S)
        assert world.leases.claim(lease.job_id, "w2", LEASE_S) is None
