"""Commands that come from a page, the API or a terminal, on both databases."""

from collections.abc import Iterator

import pytest

from patchwright.core.types.errors import WrongMomentError
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.people import OPERATOR, Actor
from patchwright.core.types.work import Outcome
from patchwright.core.webhook import DeliveryVerdict, InboxUnavailableError
from patchwright.resolver.job import JobState, Lease
from patchwright.workers.inbox.inbox import Inbox
from patchwright.workers.runs.commands import CommandOrigin, RunCommands
from tests.adapters.store.world import ALICE, World

WAITS = Outcome(kind=OutcomeKind.NEEDS_INPUT, waits=True)
ADMIN = Actor(service=OPERATOR, login="an administrator", external_id="x")


@pytest.fixture
def commands(world: World) -> Iterator[RunCommands]:
    with world.open_intake() as inbox:
        yield make_commands(world, inbox)


def make_commands(world: World, inbox: Inbox) -> RunCommands:
    return RunCommands(
        CommandOrigin.WEB,
        world.database,
        world.events,
        world.clock,
        inbox.submit,
        world.dispatched.append,
    )


def deliver(world: World, lease: Lease, outcome: Outcome) -> Lease:
    now = world.clock.now()
    return world.outcomes.store(lease, outcome, (), read_up_to=0, now=now)


def end(world: World, lease: Lease) -> None:
    done = deliver(world, lease, Outcome(kind=OutcomeKind.ANSWERED))
    world.outcomes.finish(done, JobState.DONE, world.clock.now())


def wait(world: World, lease: Lease) -> None:
    assert not world.outcomes.wait(deliver(world, lease, WAITS))


def test_an_answer_wakes_the_run_that_waits(
    world: World, commands: RunCommands
) -> None:
    job_id = world.ask()
    wait(world, world.claim(job_id))
    job = world.job(job_id)
    sent = commands.send(job, "in cents", ALICE, "m1").result()
    assert (sent.verdict, sent.job_id) == (DeliveryVerdict.JOINED, job_id)
    assert world.job(job_id).state is JobState.QUEUED
    again = commands.send(job, "in cents", ALICE, "m1").result()
    assert again.verdict is DeliveryVerdict.DUPLICATE
    [joined] = world.requests.joined(job_id)
    assert joined.trigger.request == "in cents"
    assert joined.trigger.is_off_thread


def test_what_makes_no_sense_stores_nothing(
    world: World, commands: RunCommands
) -> None:
    job = world.job(world.ask())
    world.claim(job.id)
    with pytest.raises(WrongMomentError):
        commands.send(world.job(job.id), "approve", ALICE, "m1")
    assert world.log(job.id) == []


def test_who_asks_for_more_gets_a_run_in_the_same_thread(
    world: World, commands: RunCommands
) -> None:
    job_id = world.ask()
    end(world, world.claim(job_id))
    sent = commands.send(world.job(job_id), "now in euros", ALICE, "m1").result()
    assert sent.verdict is DeliveryVerdict.ACCEPTED
    assert sent.job_id is not None
    new, old = world.job(sent.job_id), world.job(job_id)
    assert new.conversation_id == old.conversation_id
    assert (new.trigger.actor, new.trigger.request) == (ALICE, "now in euros")
    assert new.trigger.thread == old.trigger.thread


def test_an_operator_retries_once_in_the_name_of_who_has_asked(
    world: World, commands: RunCommands
) -> None:
    job_id = world.ask()
    end(world, world.claim(job_id))
    job = world.job(job_id)
    first = commands.send(job, "retry", ADMIN, "m1").result()
    assert first.job_id is not None
    assert first.verdict is DeliveryVerdict.ACCEPTED
    assert first.job_id in world.dispatched
    assert world.job(first.job_id).trigger.actor == ALICE
    end(world, world.claim(first.job_id))
    again = commands.send(job, "retry", ADMIN, "m1").result()
    assert (again.verdict, again.job_id) == (DeliveryVerdict.DUPLICATE, first.job_id)


def test_an_old_command_that_comes_again_is_nothing_new(
    world: World, commands: RunCommands
) -> None:
    job_id = world.ask()
    lease = world.claim(job_id)
    commands.send(world.job(job_id), "stop", ADMIN, "m1").result()
    end(world, lease)
    again = commands.send(world.job(job_id), "retry", ADMIN, "m1").result()
    assert (again.verdict, again.job_id) == (DeliveryVerdict.DUPLICATE, None)


def test_one_persons_message_id_is_not_that_of_another_run(
    world: World, commands: RunCommands
) -> None:
    job_id = world.ask()
    commands.send(world.job(job_id), "one", ALICE, "m1").result()
    end(world, world.claim(job_id))
    other = world.ask("k2")
    sent = commands.send(world.job(other), "two", ALICE, "m1").result()
    assert sent.verdict is DeliveryVerdict.JOINED


def test_a_service_that_shuts_down_says_so(world: World) -> None:
    job = world.job(world.ask())
    with world.open_intake() as inbox:
        commands = make_commands(world, inbox)
    with pytest.raises(InboxUnavailableError):
        commands.send(job, "stop", ALICE, "m1")
