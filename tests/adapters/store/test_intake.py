"""One request, one job: whatever is repeated, and however much comes at once."""

from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing

import pytest
import sqlalchemy
from sqlalchemy import text, update

from patchwright.core.events.actions import Message
from patchwright.core.events.payload import Source
from patchwright.core.types.threads import ForgeThread, ThreadKind
from patchwright.core.types.triggers import Ignored, Trigger
from patchwright.core.webhook import DeliveryVerdict, InboxResult, InboxUnavailableError
from patchwright.resolver.job import JobState
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import (
    choices,
    conversations,
    deliveries,
    jobs,
    metadata,
)
from patchwright.workers.inbox.inbox import MAX_GROUP, MAX_WAITING_DELIVERIES
from patchwright.workers.store.leases import lock_conversation
from tests.adapters.store.world import ISSUE, REPO, World, trigger


def test_a_request_becomes_a_conversation_and_a_queued_job(world: World) -> None:
    with world.open_intake() as inbox:
        stored = inbox.submit(world.delivery(trigger())).result()
    assert stored.verdict is DeliveryVerdict.ACCEPTED
    assert stored.job_id is not None
    assert world.job(stored.job_id).trigger == trigger()
    assert world.threads.conversation_of(ISSUE) == stored.conversation_id
    assert world.dispatched == [stored.job_id]
    [row] = world.rows(deliveries)
    assert (row["delivery_id"], row["job_id"]) == ("d1", stored.job_id)


@pytest.mark.parametrize("odd", ["a\0b", "a\ud800b", "\0", "\udc00\ud800"])
def test_signs_that_no_database_takes_are_stored_as_the_sign_for_such(
    world: World, odd: str
) -> None:
    strange = Trigger(
        **(dict(trigger()) | {"title": odd, "request": odd, "body": odd, "text": odd})
    )
    stored = world.deliver(strange, f"d{odd}")
    assert stored.verdict is DeliveryVerdict.ACCEPTED
    assert stored.job_id is not None
    assert world.deliver(strange, f"d{odd}").verdict is DeliveryVerdict.DUPLICATE
    plain = odd.translate({0: "\ufffd", 0xD800: "\ufffd", 0xDC00: "\ufffd"})
    kept = world.job(stored.job_id).trigger
    assert (kept.title, kept.request, kept.body) == (plain, plain, plain)
    [conversation] = world.rows(conversations)
    assert conversation["title"] == plain


def test_no_text_column_refuses_a_sign(world: World) -> None:
    plain = {
        f"{table.name}.{column.name}"
        for table in metadata.sorted_tables
        for column in table.columns
        if isinstance(column.type, sqlalchemy.String)
    }
    assert plain == set()
    moment = world.clock.now()
    row = {"scope": "a\0", "name": "b", "value": "c\ud800", "chosen_by": "d\0"}
    with world.database.writing() as connection:
        connection.execute(choices.insert().values(**row, chosen_at=moment))
    [kept] = world.rows(choices)
    assert (kept["scope"], kept["value"]) == ("a\ufffd", "c\ufffd")


def test_m8_the_body_of_a_delivery_is_not_kept(world: World) -> None:
    world.deliver(trigger(), "d1")
    assert [row["body"] for row in world.rows(deliveries)] == [b""]


def test_the_same_delivery_20_times_at_once_is_one_job(world: World) -> None:
    delivery = world.delivery(trigger())
    with ThreadPoolExecutor(20) as senders, world.open_intake() as inbox:
        answers = senders.map(lambda _: inbox.submit(delivery).result(), range(20))
        verdicts = [answer.verdict for answer in answers]
    assert sorted(verdicts) == ["accepted", *["duplicate"] * 19]
    assert len(world.rows(jobs)) == 1
    assert len(world.rows(deliveries)) == 1
    assert len(world.dispatched) == 1


def test_the_same_request_in_another_delivery_is_kept_and_does_nothing(
    world: World,
) -> None:
    world.deliver(trigger("k1"), "first")
    assert world.deliver(trigger("k1"), "second").verdict is DeliveryVerdict.DUPLICATE
    assert world.deliver(trigger("k1"), "second").verdict is DeliveryVerdict.DUPLICATE
    verdicts = {row["delivery_id"]: row["verdict"] for row in world.rows(deliveries)}
    assert verdicts == {"first": "accepted", "second": "duplicate"}
    assert len(world.rows(jobs)) == 1


def test_two_processes_that_get_the_same_requests_make_one_job_each(
    world: World,
) -> None:
    url = world.database.engine.url.render_as_string(hide_password=False)
    with closing(Database(url)) as other_database:
        other = World(other_database)
        with world.open_intake() as one, other.open_intake() as two:
            waiting = [
                inbox.submit(world.delivery(trigger(f"k{number}"), f"d{number}"))
                for number in range(30)
                for inbox in (one, two)
            ]
            results = [future.result() for future in waiting]
    assert sum(result.verdict is DeliveryVerdict.DUPLICATE for result in results) == 30
    assert len(world.rows(conversations)) == 1
    assert len(world.rows(jobs)) == 1
    assert len(world.dispatched + other.dispatched) == 1


def test_of_two_requests_at_once_one_joins_the_job_of_the_other(world: World) -> None:
    with world.open_intake() as inbox:
        first = inbox.submit(world.delivery(trigger("k1", "fix it")))
        second = inbox.submit(world.delivery(trigger("k2", "and the docs")))
    assert first.result().verdict is DeliveryVerdict.ACCEPTED
    assert second.result().verdict is DeliveryVerdict.JOINED
    [job_id] = world.dispatched
    assert second.result().job_id == job_id
    [event] = world.log(job_id)
    assert (event.source, event.payload) == (
        Source.USER,
        Message(text="and the docs"),
    )
    [joined] = world.requests.joined(job_id)
    assert (joined.event_id, joined.trigger) == (1, trigger("k2", "and the docs"))
    assert world.requests.joined(job_id, after_id=1) == ()


def test_a_request_does_not_join_a_job_that_ends_meanwhile(world: World) -> None:
    job_id = world.ask("k1")
    ended = {"state": JobState.DONE, "ended_at": world.clock.now()}
    with ThreadPoolExecutor(1) as sender:
        with world.database.writing() as connection:
            lock_conversation(connection, world.conversation(job_id))
            arriving = sender.submit(world.deliver, trigger("k2"))
            # Time enough for it to look at the job, were it not made to wait.
            wait([arriving], timeout=0.3)
            connection.execute(update(jobs).values(ended))
        assert arriving.result().verdict is DeliveryVerdict.ACCEPTED


def test_a_request_that_joined_is_known_when_it_is_repeated(world: World) -> None:
    job_id = world.ask("k1")
    world.deliver(trigger("k2"), "d2")
    assert world.deliver(trigger("k2"), "d2").verdict is DeliveryVerdict.DUPLICATE
    assert world.deliver(trigger("k2"), "d3").verdict is DeliveryVerdict.DUPLICATE
    assert len(world.log(job_id)) == 1


def test_who_follows_the_conversation_hears_of_a_request_that_joins(
    world: World,
) -> None:
    conversation_id = world.conversation(world.ask("k1"))
    with world.notifier.listen(conversation_id) as wakeup, world.open_intake() as inbox:
        inbox.submit(world.delivery(trigger("k2")))
        assert wakeup.wait(10)


def test_the_pull_request_of_a_conversation_belongs_to_it(world: World) -> None:
    conversation_id = world.conversation(world.ask("k1"))
    pull_request = ForgeThread(repo=REPO, kind=ThreadKind.PULL_REQUEST, number=8)
    now = world.clock.now()
    assert world.threads.link(conversation_id, pull_request, now)
    assert world.threads.link(conversation_id, pull_request, now)
    there = trigger("k2").replace(thread=pull_request)
    assert world.deliver(there).verdict is DeliveryVerdict.JOINED


def test_a_thread_of_another_conversation_is_not_taken_away(world: World) -> None:
    first = world.conversation(world.ask("k1"))
    elsewhere = ISSUE.replace(number=9)
    second = world.deliver(trigger("k2").replace(thread=elsewhere))
    assert second.conversation_id != first
    assert not world.threads.link(first, elsewhere, world.clock.now())
    assert world.threads.conversation_of(elsewhere) == second.conversation_id


def test_what_asks_for_nothing_is_kept_with_the_reason(world: World) -> None:
    ignored = Ignored(reason="no-mention")
    assert world.deliver(ignored, "d1").verdict is DeliveryVerdict.IGNORED
    assert world.deliver(ignored, "d1").verdict is DeliveryVerdict.DUPLICATE
    [row] = world.rows(deliveries)
    assert (row["verdict"], row["reason"]) == ("ignored", "no-mention")
    assert world.rows(jobs) == []


def test_a_delivery_that_cannot_be_stored_does_not_hurt_those_beside_it(
    world: World,
) -> None:
    _refuse_equal_messages(world)
    requests = ["fix it", "again", "again", "something else"]
    with world.open_intake() as inbox:
        answers = [
            inbox.submit(world.delivery(trigger(f"k{number}", request)))
            for number, request in enumerate(requests)
        ]
    assert isinstance(answers[2].exception(), InboxUnavailableError)
    stored = [answers[place].result().verdict for place in (0, 1, 3)]
    assert stored == ["accepted", "joined", "joined"]
    assert len(world.rows(deliveries)) == 3


def test_leaving_the_intake_stores_what_still_waits(world: World) -> None:
    with world.open_intake() as inbox:
        waiting: list[Future[InboxResult]] = [
            inbox.submit(world.delivery(trigger(f"k{number}"))) for number in range(50)
        ]
    assert all(future.done() for future in waiting)
    assert len(world.rows(deliveries)) == 50


def test_a_closed_intake_takes_nothing(world: World) -> None:
    with world.open_intake() as inbox:
        assert inbox.is_alive
    assert not inbox.is_alive
    with pytest.raises(InboxUnavailableError):
        inbox.submit(world.delivery(trigger()))


def test_only_so_many_deliveries_wait_and_none_of_them_is_lost(world: World) -> None:
    taken: list[Future[InboxResult]] = []
    with world.open_intake() as inbox, world.database.writing() as connection:
        if not world.database.is_sqlite:
            connection.execute(text("LOCK TABLE deliveries IN EXCLUSIVE MODE"))
        with pytest.raises(InboxUnavailableError, match="too many"):
            taken.extend(
                inbox.submit(world.delivery(Ignored(reason="flood")))
                for _ in range(MAX_WAITING_DELIVERIES + MAX_GROUP + 1)
            )
    assert len(taken) >= MAX_WAITING_DELIVERIES
    assert {future.result().verdict for future in taken} == {DeliveryVerdict.IGNORED}


def _refuse_equal_messages(world: World) -> None:
    """Make the database refuse something that it is not asked to mind."""
    with world.database.writing() as connection:
        connection.execute(text("CREATE UNIQUE INDEX odd ON events (payload)"))
