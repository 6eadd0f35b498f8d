"""What is said to nobody counts where an answer is waited for, and is not kept."""

from dataclasses import replace

import pytest

from patchwright.core.types.base import JobId
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.triggers import Ignored, Trigger, TriggerKind
from patchwright.core.types.work import Outcome
from patchwright.core.webhook import DeliveryVerdict, InboxResult
from patchwright.resolver.job import JobState
from patchwright.workers.db.tables import deliveries, jobs
from tests.adapters.store.world import ALICE, World, trigger

WORDS = b'{"text": "we could also fire Bob"}'


def reply(key: str = "r1", words: str = "the second one") -> Trigger:
    return trigger(key, words).replace(kind=TriggerKind.REPLY)


def deliver(
    world: World, reading: Trigger | Ignored, service: str = "slack"
) -> InboxResult:
    sent = replace(world.delivery(reading), service=service, body=WORDS)
    with world.database.writing() as connection:
        return world.recorder.record(connection, sent)


def waiting(world: World) -> JobId:
    job_id = world.ask()
    assert not world.outcomes.wait(world.claim(job_id))
    assert world.job(job_id).state is JobState.WAITING_USER
    return job_id


def kept(world: World) -> dict[str, object]:
    return world.rows(deliveries)[-1]


def test_a_reply_answers_a_run_that_waits(world: World) -> None:
    job_id = waiting(world)
    stored = deliver(world, reply())
    assert (stored.verdict, stored.job_id) == (DeliveryVerdict.JOINED, job_id)
    assert stored.wakes
    assert world.job(job_id).state is JobState.QUEUED
    [joined] = world.requests.joined(job_id)
    assert joined.trigger == reply()


def test_a_reply_that_comes_while_the_question_is_posted_answers_it(
    world: World,
) -> None:
    job_id = world.ask()
    lease = world.claim(job_id)
    asked = Outcome(kind=OutcomeKind.NEEDS_INPUT, reason="question", waits=True)
    now = world.clock.now()
    lease = world.outcomes.store(lease, asked, (), read_up_to=0, now=now)
    assert deliver(world, reply()).verdict is DeliveryVerdict.JOINED
    assert world.outcomes.wait(lease)


def test_a_reply_that_comes_while_the_end_is_posted_is_talk_among_people(
    world: World,
) -> None:
    job_id = world.ask()
    lease, done = world.claim(job_id), Outcome(kind=OutcomeKind.RESOLVED)
    world.outcomes.store(lease, done, (), read_up_to=0, now=world.clock.now())
    assert deliver(world, reply()).verdict is DeliveryVerdict.IGNORED


@pytest.mark.parametrize(
    "words",
    [
        "@bob which one do you want?",
        "**@bob**: yours",
        "> the second one\n\n@bob is that right?",
        "> the second one",
        "<!-- the second one -->",
    ],
)
def test_what_is_said_to_somebody_else_is_no_answer(world: World, words: str) -> None:
    job_id = waiting(world)
    assert deliver(world, reply("r1", words)).verdict is DeliveryVerdict.IGNORED
    assert kept(world)["reason"] == "not-asked"
    assert world.job(job_id).state is JobState.WAITING_USER


def test_what_a_bot_says_to_nobody_is_no_answer(world: World) -> None:
    waiting(world)
    robot = ALICE.replace(login="ci[bot]", is_bot=True)
    said = reply().replace(actor=robot)
    assert deliver(world, said).verdict is DeliveryVerdict.IGNORED


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("> May this be done?\n\napprove", "approve"),
        ("> Cents or euros?\n\nthe first", "> Cents or euros?\n\nthe first"),
        ("ask @bob, he knows", "ask @bob, he knows"),
    ],
)
def test_a_command_counts_below_a_quotation(
    world: World, words: str, wanted: str
) -> None:
    job_id = waiting(world)
    deliver(world, reply("r1", words))
    [joined] = world.requests.joined(job_id)
    assert joined.trigger.request == wanted


def test_a_reply_that_comes_twice_answers_once(world: World) -> None:
    job_id = waiting(world)
    assert deliver(world, reply()).verdict is DeliveryVerdict.JOINED
    assert deliver(world, reply()).verdict is DeliveryVerdict.DUPLICATE
    assert len(world.requests.joined(job_id)) == 1


def test_a_reply_to_a_run_that_works_is_talk_among_people(world: World) -> None:
    job_id = world.ask()
    world.claim(job_id)
    assert deliver(world, reply()).verdict is DeliveryVerdict.IGNORED
    assert world.requests.joined(job_id) == ()
    assert len(world.rows(jobs)) == 1


def test_a_reply_where_nothing_runs_starts_nothing(world: World) -> None:
    assert deliver(world, reply()).verdict is DeliveryVerdict.IGNORED
    assert world.rows(jobs) == []
    row = kept(world)
    assert (row["reason"], row["body"]) == ("not-asked", b"")


@pytest.mark.parametrize("words", ["stop", "Stop!", "STOP."])
def test_stop_counts_at_any_time(world: World, words: str) -> None:
    job_id = world.ask()
    world.claim(job_id)
    stored = deliver(world, reply("r1", words))
    assert (stored.verdict, stored.job_id) == (DeliveryVerdict.JOINED, job_id)


def test_stop_where_nothing_runs_starts_nothing(world: World) -> None:
    assert deliver(world, reply("r1", "stop")).verdict is DeliveryVerdict.IGNORED
    assert world.rows(jobs) == []


def test_a_reply_found_again_does_not_answer_a_later_question(world: World) -> None:
    assert deliver(world, reply()).verdict is DeliveryVerdict.IGNORED
    job_id = waiting(world)
    assert deliver(world, reply()).verdict is DeliveryVerdict.DUPLICATE
    assert world.job(job_id).state is JobState.WAITING_USER


@pytest.mark.parametrize("service", ["slack", "jira", "github"])
def test_nothing_is_kept_of_the_words_of_what_asked_for_nothing(
    world: World, service: str
) -> None:
    stored = deliver(world, Ignored(reason="no-mention"), service)
    assert stored.verdict is DeliveryVerdict.IGNORED
    assert kept(world)["body"] == b""


def test_m8_of_a_request_that_is_kept_which_was_read(world: World) -> None:
    stored = deliver(world, trigger())
    assert stored.job_id is not None
    assert world.job(stored.job_id).trigger == trigger()
    assert kept(world)["body"] == b""


def test_m8_of_an_answer_that_is_kept_which_was_read(world: World) -> None:
    job_id = waiting(world)
    deliver(world, reply())
    assert [one.trigger for one in world.requests.joined(job_id)] == [reply()]
    assert kept(world)["body"] == b""
