"""What a run shows while it works is recorded once, and holds up no end."""

import pytest

from patchwright.core.types.errors import LeaseLostError
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Outcome
from patchwright.resolver.job import JobState, Lease
from patchwright.resolver.publish.effects import (
    FinalMessage,
    SetStartLabels,
    ShowStatus,
)
from patchwright.workers.store.effects import EffectState
from tests.adapters.store.world import ISSUE, LEASE_S, World, trigger

STATUS = ShowStatus(thread=ISSUE)
WAITS = Outcome(kind=OutcomeKind.NEEDS_INPUT, reason="triage", waits=True)


def _end(world: World, lease: Lease, outcome: Outcome) -> Lease:
    """Store an outcome and publish its final message."""
    now = world.clock.now()
    lease = world.outcomes.store(
        lease, outcome, [FinalMessage()], read_up_to=0, now=now
    )
    due = world.effects.next_due(lease.job_id)
    assert due is not None
    assert due.effect == FinalMessage()
    world.effects.mark_done(lease, due.key, "{}")
    return lease


def test_what_was_done_is_not_begun_again(world: World) -> None:
    lease = world.claim(world.ask())
    begun = world.effects.begin(lease, STATUS)
    assert begun.is_new
    again = world.effects.begin(lease, STATUS)
    assert again == begun._replace(is_new=False)
    world.effects.mark_done(lease, begun.key, "here")
    assert world.effects.begin(lease, STATUS).receipt == "here"
    assert len(world.effects.of_job(lease.job_id)) == 1


def test_what_a_service_refused_is_tried_when_it_is_asked_for_again(
    world: World,
) -> None:
    lease = world.claim(world.ask())
    begun = world.effects.begin(lease, STATUS)
    world.effects.mark_refused(lease, begun.key, "no")
    assert world.effects.begin(lease, STATUS).receipt is None
    world.effects.mark_done(lease, begun.key, "here")
    [stored] = world.effects.of_job(lease.job_id)
    assert (stored.state, stored.error) == (EffectState.DONE, None)


def test_labels_are_set_anew_after_a_run_has_waited(world: World) -> None:
    job_id = world.ask()
    lease = world.claim(job_id)
    for effect in (STATUS, SetStartLabels()):
        key = world.effects.begin(lease, effect).key
        world.effects.mark_done(lease, key, "here")
    world.outcomes.wait(_end(world, lease, WAITS))
    world.deliver(trigger("k2", "in cents"))
    lease = world.claim(job_id)
    assert world.effects.begin(lease, STATUS).receipt == "here"
    assert world.effects.begin(lease, SetStartLabels()).is_new


def test_what_was_not_shown_is_given_up_when_the_run_ends(world: World) -> None:
    lease = world.claim(world.ask())
    world.effects.begin(lease, STATUS)
    done = Outcome(kind=OutcomeKind.NO_CHANGE)
    lease = _end(world, lease, done)
    status, final = world.effects.of_job(lease.job_id)
    assert (status.state, final.state) == (EffectState.ABANDONED, EffectState.DONE)
    world.outcomes.finish(lease, JobState.DONE, world.clock.now())


def test_an_answer_while_the_end_is_shown_does_not_hold_it_up(world: World) -> None:
    lease = world.claim(world.ask())
    lease = _end(world, lease, Outcome(kind=OutcomeKind.NO_CHANGE))
    assert world.effects.begin(lease, STATUS).is_new
    assert world.effects.next_due(lease.job_id) is None
    world.outcomes.finish(lease, JobState.DONE, world.clock.now())


def test_who_lost_the_lease_begins_nothing(world: World) -> None:
    job_id = world.ask()
    lease = world.claim(job_id)
    world.clock.advance(2 * LEASE_S)
    world.claim(job_id, "w2")
    with pytest.raises(LeaseLostError):
        world.effects.begin(lease, STATUS)
    assert world.effects.of_job(job_id) == ()
