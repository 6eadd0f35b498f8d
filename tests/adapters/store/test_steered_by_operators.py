"""What an operator does to runs, on both databases."""

from pathlib import Path

import pytest

from patchwright.core.events.actions import ChangeState
from patchwright.core.events.payload import AgentState, Source
from patchwright.core.types.base import RandomIds
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Outcome
from patchwright.resolver.job import JobState, Lease
from patchwright.workers.db.database import Database
from patchwright.workers.runs.administration import (
    BusyError,
    RunAdministration,
    TooLateError,
    list_ids_beginning_with,
    list_newest_ids,
)
from patchwright.workers.runs.known_ids import find_ids
from tests.adapters.store.world import World

WAITS = Outcome(kind=OutcomeKind.NEEDS_INPUT, waits=True)


@pytest.fixture
def administration(world: World) -> RunAdministration:
    ids = RandomIds()
    return RunAdministration(
        world.database, world.events, ids, world.clock, "the operator"
    )


def deliver(world: World, lease: Lease, outcome: Outcome, read_up_to: int) -> Lease:
    now = world.clock.now()
    return world.outcomes.store(lease, outcome, (), read_up_to=read_up_to, now=now)


def end(world: World, lease: Lease) -> None:
    done = deliver(world, lease, Outcome(kind=OutcomeKind.ANSWERED), 0)
    world.outcomes.finish(done, JobState.DONE, world.clock.now())


def test_a_stop_is_in_the_log_and_rings(
    world: World, administration: RunAdministration
) -> None:
    job = world.job(world.ask())
    world.claim(job.id)
    with world.notifier.listen(job.conversation_id) as wakeup:
        assert administration.stop(job) is JobState.RUNNING
        assert wakeup.is_set()
    [event] = world.log(job.id)
    said = ChangeState(state=AgentState.STOPPED, reason="the operator")
    assert (event.source, event.payload) == (Source.USER, said)


def test_what_waits_for_a_person_is_woken_to_stop(
    world: World, administration: RunAdministration
) -> None:
    job = world.job(world.ask())
    waiting = deliver(world, world.claim(job.id), WAITS, 0)
    assert not world.outcomes.wait(waiting)
    assert administration.stop(job) is JobState.WAITING_USER
    assert world.jobs.take_unfinished(60.0) == (job.id,)


@pytest.mark.parametrize(("read_up_to", "is_awake"), [(0, True), (1, False)])
def test_a_stop_that_was_not_heard_keeps_the_run_from_waiting(
    world: World, administration: RunAdministration, read_up_to: int, *, is_awake: bool
) -> None:
    job = world.job(world.ask())
    lease = world.claim(job.id)
    administration.stop(job)
    waiting = deliver(world, lease, WAITS, read_up_to)
    assert world.outcomes.wait(waiting) is is_awake


def test_the_stop_of_an_earlier_run_does_not_wake_the_next(
    world: World, administration: RunAdministration
) -> None:
    first = world.job(world.ask())
    lease = world.claim(first.id)
    administration.stop(first)
    end(world, lease)
    world.clock.advance(1)
    waiting = deliver(world, world.claim(world.ask("k2")), WAITS, 0)
    assert not world.outcomes.wait(waiting)


def test_it_is_too_late_to_stop_what_is_delivered_or_over(
    world: World, administration: RunAdministration
) -> None:
    job = world.job(world.ask())
    lease = deliver(world, world.claim(job.id), Outcome(kind=OutcomeKind.ANSWERED), 0)
    with pytest.raises(TooLateError, match="publishes it now"):
        administration.stop(job)
    world.outcomes.finish(lease, JobState.DONE, world.clock.now())
    with pytest.raises(TooLateError, match="has ended already"):
        administration.stop(job)
    assert world.log(job.id) == []


def test_a_retry_waits_for_a_worker_at_once(
    world: World, administration: RunAdministration
) -> None:
    job = world.job(world.ask())
    with pytest.raises(BusyError, match=f"patchwright runs stop {job.id[:8]}"):
        administration.retry(job)
    end(world, world.claim(job.id))
    new = world.job(administration.retry(job))
    assert (new.conversation_id, new.state) == (job.conversation_id, JobState.QUEUED)
    assert new.trigger.replace(key=job.trigger.key) == job.trigger
    assert world.jobs.take_unfinished(60.0) == (new.id,)


def test_runs_are_found_by_their_beginning_and_by_what_they_are(
    world: World,
    administration: RunAdministration,
    database: Database,
    database_url: str,
    tmp_path: Path,
) -> None:
    first = world.job(world.ask())
    end(world, world.claim(first.id))
    world.clock.advance(1)
    second = administration.retry(first)
    (tmp_path / "abc.jsonl").touch()
    assert list_ids_beginning_with(database, first.id[:31]) == (first.id,)
    assert list_ids_beginning_with(database, "%") == ()
    assert list_newest_ids(database, 1) == (second,)
    assert list_newest_ids(database, 9) == (second, first.id)
    assert find_ids(database_url, tmp_path, "") == [second, first.id, "abc"]
    assert find_ids(database_url, tmp_path, second[:31]) == [second]
    assert find_ids(database_url, tmp_path, "%") == []


@pytest.mark.parametrize(
    "url", ["sqlite:////nowhere/at/all.db", "postgresql://nobody@127.0.0.1:1/none"]
)
def test_a_database_that_is_not_there_completes_nothing(
    url: str, tmp_path: Path
) -> None:
    assert find_ids(url, tmp_path / "none", "") == []
