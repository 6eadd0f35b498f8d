"""Which jobs wait for a worker, as the sweep asks."""

from datetime import timedelta

import pytest

from patchwright.core.types.base import JobId
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.people import Actor
from patchwright.core.types.work import Outcome
from patchwright.resolver.job import JobState
from patchwright.resolver.publish.effects import FinalMessage
from tests.adapters.store.world import ISSUE, LEASE_S, World, trigger

RESUBMIT_AFTER_S = 45.0
FAILED = Outcome(kind=OutcomeKind.FAILED)


def test_people_find_their_runs_however_much_others_ask(world: World) -> None:
    mine = Actor(service="slack", host="T1", login="jo", external_id="U1")
    others = Actor(service="slack", host="T1", login="mo", external_id="U12")
    first = _ask_as(world, mine, 0)
    for number in range(1, 305):
        _ask_as(world, others, number)
    assert [one.id for one in world.jobs.newest_of(mine, 20)] == [first]


def _ask_as(world: World, actor: Actor, number: int) -> JobId | None:
    world.clock.advance(1)
    thread = ISSUE.replace(number=100 + number)
    asked = trigger(f"k{number}").replace(actor=actor, thread=thread)
    return world.deliver(asked).job_id


def test_a_job_that_was_just_submitted_is_left_to_the_queue(world: World) -> None:
    world.ask()
    assert _unfinished(world) == ()


def test_a_job_the_queue_lost_is_found_once_per_interval(world: World) -> None:
    job_id = world.ask()
    world.clock.advance(RESUBMIT_AFTER_S)
    assert _unfinished(world) == (job_id,)
    assert _unfinished(world) == ()
    world.clock.advance(RESUBMIT_AFTER_S)
    assert _unfinished(world) == (job_id,)


def test_a_running_job_is_unfinished_only_when_its_lease_ran_out(world: World) -> None:
    job_id = world.ask()
    world.claim(job_id)
    world.clock.advance(LEASE_S - 1)
    assert _unfinished(world) == ()
    world.clock.advance(1)
    assert _unfinished(world) == (job_id,)


def test_a_delivery_that_waits_is_unfinished_when_it_is_due(world: World) -> None:
    job_id = _delivering(world)
    lease = world.claim(job_id)
    [effect] = world.effects.of_job(job_id)
    world.effects.mark_failed(lease, effect.key, "rate-limited", timedelta(hours=1))
    world.leases.release(lease)
    world.clock.advance(3599)
    assert _unfinished(world) == ()
    world.clock.advance(1)
    assert _unfinished(world) == (job_id,)


def test_a_job_whose_worker_died_before_it_could_finish_is_unfinished(
    world: World,
) -> None:
    job_id = _delivering(world)
    lease = world.claim(job_id)
    world.effects.mark_done(lease, world.effects.of_job(job_id)[0].key, "c1")
    world.clock.advance(LEASE_S)
    assert _unfinished(world) == (job_id,)


def test_what_has_ended_is_finished(world: World) -> None:
    job_id = world.ask()
    world.outcomes.finish(world.claim(job_id), JobState.DONE, world.clock.now())
    world.clock.advance(10 * LEASE_S)
    assert _unfinished(world) == ()


def test_the_jobs_of_the_last_hour_are_counted(world: World) -> None:
    first = world.ask("k1")
    world.outcomes.finish(world.claim(first), JobState.DONE, world.clock.now())
    world.clock.advance(3600)
    second = world.ask("k2")
    hour_ago = world.clock.now() - timedelta(hours=1)
    conversation = world.conversation(second)
    assert world.conversation(first) == conversation
    assert world.jobs.count_since(conversation, hour_ago) == 2
    assert world.jobs.count_since(conversation, hour_ago + timedelta(seconds=1)) == 1


@pytest.mark.parametrize(
    ("outcome", "counted"),
    [
        (Outcome(kind=OutcomeKind.REFUSED, reason="not-allowed"), 0),
        (Outcome(kind=OutcomeKind.ANSWERED, reason="help"), 0),
        (Outcome(kind=OutcomeKind.ANSWERED, iterations=2), 1),
        (FAILED, 1),
    ],
)
def test_what_no_run_came_of_uses_up_nothing(
    world: World, outcome: Outcome, counted: int
) -> None:
    job_id = world.ask()
    lease = world.claim(job_id)
    now = world.clock.now()
    world.outcomes.store(lease, outcome, [], read_up_to=0, now=now)
    assert world.jobs.count_since(world.conversation(job_id), now) == counted


def _unfinished(world: World) -> tuple[JobId, ...]:
    return world.jobs.take_unfinished(RESUBMIT_AFTER_S)


def _delivering(world: World) -> JobId:
    """Make a job that has one effect to deliver, and that nobody holds."""
    job_id = world.ask()
    lease = world.claim(job_id)
    now = world.clock.now()
    world.outcomes.store(lease, FAILED, [FinalMessage()], read_up_to=0, now=now)
    world.leases.release(lease)
    return job_id
