"""How a job ends, what it leaves to do, and what becomes of latecomers."""

from concurrent.futures import ThreadPoolExecutor, wait
from datetime import timedelta

import pytest

from patchwright.core.events.actions import Think
from patchwright.core.events.payload import Source
from patchwright.core.types.base import JobId
from patchwright.core.types.errors import LeaseLostError
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.triggers import TriggerKind
from patchwright.core.types.work import Outcome
from patchwright.core.webhook import DeliveryVerdict
from patchwright.resolver.job import JobState, Lease
from patchwright.resolver.publish.effects import FinalMessage, PushBranch
from patchwright.workers.store.effects import EffectState
from patchwright.workers.store.outcomes import EffectsPendingError
from tests.adapters.store.world import LEASE_S, World, trigger

DONE = Outcome(kind=OutcomeKind.RESOLVED, head_sha="abc", summary="Fixed.")
PUSH = PushBranch(branch="patchwright/7", sha="abc")


def test_an_outcome_is_stored_with_effects_and_artifacts(world: World) -> None:
    job_id = world.ask()
    _store(world, world.claim(job_id))
    job = world.job(job_id)
    assert (job.state, job.outcome) == (JobState.DELIVERING, DONE)
    effects = world.effects.of_job(job_id)
    assert [stored.effect for stored in effects] == [PUSH, FinalMessage()]
    assert world.outcomes.load_artifact(job_id, "bundle") == b"\x00commits"
    assert world.outcomes.load_artifact(job_id, "other") is None


def test_an_outcome_is_stored_once(world: World) -> None:
    job_id = world.ask()
    lease = world.claim(job_id)
    _store(world, lease)
    with pytest.raises(LeaseLostError):
        world.outcomes.store(
            lease,
            Outcome(kind=OutcomeKind.STUCK),
            [FinalMessage()],
            read_up_to=0,
            now=world.clock.now(),
        )
    assert world.job(job_id).outcome == DONE
    assert len(world.effects.of_job(job_id)) == 2


def test_a_job_that_waits_is_nobodys_until_somebody_says_something(
    world: World,
) -> None:
    job_id = world.ask()
    lease = _store(world, world.claim(job_id))
    _deliver(world, lease)
    assert world.outcomes.wait(lease) is False
    assert world.job(job_id).state is JobState.WAITING_USER
    assert world.leases.claim(job_id, "w2", LEASE_S) is None
    world.clock.advance(9 * 24 * 3600)
    assert world.jobs.take_unfinished(0.0) == ()
    said = world.deliver(trigger("k2", "in cents"))
    assert (said.job_id, said.wakes) == (job_id, True)
    assert world.jobs.take_unfinished(0.0) == (job_id,)
    again = world.claim(job_id, "w2")
    assert again.attempt == 1
    lease = _store(world, again)
    keys = [effect.key for effect in world.effects.of_job(job_id)]
    assert len(set(keys)) == 4
    with pytest.raises(EffectsPendingError):
        world.outcomes.wait(lease)


def test_what_was_said_before_it_waited_wakes_it_at_once(world: World) -> None:
    job_id = world.ask()
    lease = _store(world, world.claim(job_id))
    world.deliver(trigger("k2", "in cents"))
    _deliver(world, lease)
    assert world.outcomes.wait(lease) is True
    assert world.job(job_id).state is JobState.QUEUED


def test_what_is_kept_of_a_run_is_replaced_by_the_next(world: World) -> None:
    job_id = world.ask()
    lease = world.claim(job_id)
    for data in (b"first", b"second"):
        world.outcomes.keep_artifact(lease, "checkpoint", data)
    assert world.outcomes.load_artifact(job_id, "checkpoint") == b"second"
    world.clock.advance(LEASE_S + 1)
    world.claim(job_id, "w2")
    with pytest.raises(LeaseLostError):
        world.outcomes.keep_artifact(lease, "checkpoint", b"late")


def test_effects_come_in_order_and_a_failed_one_holds_up_the_next(world: World) -> None:
    job_id = world.ask()
    lease = _store(world, world.claim(job_id))
    push = world.effects.next_due(job_id)
    assert push is not None
    assert push.effect == PUSH
    world.effects.mark_failed(lease, push.key, "away", timedelta(seconds=30))
    assert world.effects.next_due(job_id) is None
    world.clock.advance(30)
    again = world.effects.next_due(job_id)
    assert again is not None
    assert (again.key, again.attempts, again.error) == (push.key, 1, "away")
    world.effects.mark_done(lease, push.key, "abc")
    following = world.effects.next_due(job_id)
    assert following is not None
    assert following.effect == FinalMessage()
    assert world.effects.of_job(job_id)[0].receipt == "abc"


def test_an_effect_that_was_given_up_lets_the_next_one_go(world: World) -> None:
    job_id = world.ask()
    lease = _store(world, world.claim(job_id))
    push = world.effects.of_job(job_id)[0]
    world.effects.abandon(lease, push.key, "forbidden")
    following = world.effects.next_due(job_id)
    assert following is not None
    assert following.effect == FinalMessage()
    assert world.effects.of_job(job_id)[0].state is EffectState.ABANDONED


def test_an_old_lease_marks_no_effect(world: World) -> None:
    job_id = world.ask()
    old = _store(world, world.claim(job_id))
    world.clock.advance(LEASE_S)
    world.claim(job_id, "w2")
    with pytest.raises(LeaseLostError):
        world.effects.mark_done(old, world.effects.of_job(job_id)[0].key, "abc")
    assert world.effects.of_job(job_id)[0].state is EffectState.PENDING


def test_a_job_does_not_end_before_its_effects(world: World) -> None:
    job_id = world.ask()
    lease = _store(world, world.claim(job_id))
    with pytest.raises(EffectsPendingError):
        world.outcomes.finish(lease, JobState.DONE, world.clock.now())
    _deliver(world, lease)
    assert world.outcomes.finish(lease, JobState.DONE, world.clock.now()) is None
    assert world.job(job_id).state is JobState.DONE


def test_when_the_job_has_ended_its_lease_writes_nothing_more(world: World) -> None:
    job_id = world.ask()
    lease = world.claim(job_id)
    world.outcomes.finish(lease, JobState.CANCELLED, world.clock.now())
    log = world.events.open(lease.conversation_id, lease)
    with pytest.raises(LeaseLostError):
        log.append(Source.AGENT, Think(thought="one more thing"))
    assert world.log(job_id) == []


def test_a_job_ends_in_an_end_state_only(world: World) -> None:
    lease = world.claim(world.ask())
    with pytest.raises(ValueError, match="queued is not how a job ends"):
        world.outcomes.finish(lease, JobState.QUEUED, world.clock.now())


def test_after_the_end_a_new_request_starts_a_new_job(world: World) -> None:
    first = world.ask("k1")
    world.outcomes.finish(world.claim(first), JobState.DONE, world.clock.now())
    second = world.deliver(trigger("k2"))
    assert second.verdict is DeliveryVerdict.ACCEPTED
    assert second.job_id != first
    assert second.conversation_id == world.conversation(first)


def test_a_request_that_the_run_read_starts_nothing(world: World) -> None:
    job_id = world.ask("k1")
    lease = world.claim(job_id)
    world.ask("k2", "and the docs")
    lease = _store(world, lease, read_up_to=1)
    _deliver(world, lease)
    assert world.outcomes.finish(lease, JobState.DONE, world.clock.now()) is None


def test_requests_that_came_too_late_get_one_job_of_their_own(world: World) -> None:
    job_id = world.ask("k1")
    lease = world.claim(job_id)
    world.ask("k2", "read in time")
    lease = _store(world, lease, read_up_to=1)
    world.ask("k3", "too late")
    world.ask("k4", "later still")
    _deliver(world, lease)
    follower = world.outcomes.finish(lease, JobState.DONE, world.clock.now())
    assert follower is not None
    assert world.job(follower).trigger.request == "too late"
    assert world.job(follower).state is JobState.QUEUED
    joined = world.requests.joined(follower)
    assert [request.trigger.key for request in joined] == ["k4"]
    assert world.log(follower)[joined[0].event_id - 1].id == joined[0].event_id


def test_a_request_that_comes_as_the_job_ends_is_not_lost(world: World) -> None:
    lease = world.claim(world.ask("k1"))
    with ThreadPoolExecutor(1) as worker:
        with world.database.writing() as connection:
            late = world.delivery(trigger("k2", "too late"))
            world.recorder.record(connection, late)
            ending = worker.submit(
                world.outcomes.finish, lease, JobState.DONE, world.clock.now()
            )
            # Time enough for it to end the job, were it not made to wait.
            wait([ending], timeout=0.3)
        follower = ending.result()
    assert follower is not None
    assert world.job(follower).trigger.request == "too late"


def _store(world: World, lease: Lease, read_up_to: int = 0) -> Lease:
    return world.outcomes.store(
        lease,
        DONE,
        [PUSH, FinalMessage()],
        read_up_to=read_up_to,
        now=world.clock.now(),
        artifacts={"bundle": b"\x00commits"},
    )


def _deliver(world: World, lease: Lease) -> None:
    for effect in world.effects.of_job(JobId(lease.job_id)):
        world.effects.mark_done(lease, effect.key, "somewhere")


def test_who_has_only_answered_has_asked_for_nothing(world: World) -> None:
    job_id = world.ask()
    lease = _store(world, world.claim(job_id))
    _deliver(world, lease)
    world.outcomes.wait(lease)
    reply = trigger("k2", "me too").replace(kind=TriggerKind.REPLY)
    assert world.deliver(reply).verdict is DeliveryVerdict.JOINED
    lease = _store(world, world.claim(job_id))
    _deliver(world, lease)
    assert world.outcomes.finish(lease, JobState.DONE, world.clock.now()) is None
