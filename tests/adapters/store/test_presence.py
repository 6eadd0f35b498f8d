"""Which processes are alive, and whether anybody works on what waits."""

from datetime import timedelta

from patchwright.workers.db.database import Database
from patchwright.workers.ops.health import (
    ProcessStatus,
    SchedulerCheck,
    WorkersCheck,
    live_processes,
    oldest_job_waits_since,
    record_heartbeat,
    remove_process,
)
from tests.adapters.store.world import LEASE_S, World
from tests.fakes.clock import START, FakeClock


def presence(
    name: str = "host:1", role: str = "worker", *red: str, after_s: float = 0
) -> ProcessStatus:
    seen_at = START + timedelta(seconds=after_s)
    return ProcessStatus(
        id=name,
        role=role,
        name=name,
        version="1.2",
        started_at=START,
        seen_at=seen_at,
        until=seen_at + timedelta(seconds=30),
        red=red,
    )


def test_a_process_is_alive_until_it_has_been_silent_for_too_long(
    database: Database, clock: FakeClock
) -> None:
    record_heartbeat(database, presence("host:2"))
    record_heartbeat(database, presence("host:1", "web", "broker", "sweeps"))
    clock.advance(20)
    record_heartbeat(database, presence("host:2"))
    both = live_processes(database)
    assert {one.name for one in both} == {"host:1", "host:2"}
    assert next(one for one in both if one.role == "web").red == ("broker", "sweeps")
    clock.advance(10)
    [left] = live_processes(database)
    assert left == presence("host:2", after_s=20)


def test_a_process_that_ends_is_gone_at_once_with_those_that_died_long_ago(
    database: Database, clock: FakeClock
) -> None:
    record_heartbeat(database, presence("died"))
    clock.advance(2 * 3600)
    record_heartbeat(database, presence("lives"))
    record_heartbeat(database, presence("ends"))
    remove_process(database, presence("ends"))
    assert [one.name for one in live_processes(database)] == ["lives"]


def test_jobs_that_nobody_works_on_are_red_since_they_wait(world: World) -> None:
    staffed, now = WorkersCheck(world.database), world.clock.now()
    assert staffed(now).since is None, "nothing waits"
    world.ask()
    assert staffed(now).since == START
    record_heartbeat(world.database, presence("host:1", "worker", "sweeps"))
    record_heartbeat(world.database, presence("host:2", "web"))
    assert staffed(now).since == START, "one that can, and is no web side"
    record_heartbeat(world.database, presence("host:3"))
    assert staffed(now).since is None
    world.clock.advance(60)
    assert staffed(now).since == START, "it has died"


def test_a_job_waits_from_the_moment_at_which_its_worker_is_lost(world: World) -> None:
    lease = world.claim(world.ask())
    assert oldest_job_waits_since(world.database) is None
    world.clock.advance(LEASE_S + 1)
    assert oldest_job_waits_since(world.database) == lease.until


def test_a_job_given_back_waits_anew(world: World) -> None:
    lease = world.claim(world.ask())
    world.clock.advance(600)
    world.leases.heartbeat(lease, LEASE_S)
    world.leases.release(lease)
    since = oldest_job_waits_since(world.database)
    assert since is not None
    assert since >= world.clock.now()


def test_a_scheduler_is_missed(database: Database) -> None:
    ticking = SchedulerCheck(database)
    record_heartbeat(database, presence("host:1"))
    assert ticking(START).since == START
    record_heartbeat(database, presence("host:2", "scheduler", "broker"))
    assert ticking(START).since == START
    record_heartbeat(database, presence("host:3", "scheduler"))
    assert ticking(START).since is None


def test_a_scheduler_of_the_version_before_counts(database: Database) -> None:
    record_heartbeat(database, presence("host:1", "beat"))
    assert SchedulerCheck(database)(START).since is None
