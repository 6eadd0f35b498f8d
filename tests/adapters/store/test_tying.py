"""Threads that are tied, and requests that move: each step once, and none is lost."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Barrier

import pytest

from patchwright.core.types.base import JobId, RandomIds
from patchwright.core.types.errors import LeaseLostError
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.threads import (
    ForgeThread,
    TalkThread,
    ThreadKind,
    ThreadRef,
)
from patchwright.core.types.triggers import Trigger
from patchwright.core.types.work import Outcome
from patchwright.resolver.job import JobState, Lease
from patchwright.resolver.run_store import OtherConversation
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import deliveries
from patchwright.workers.store.requests import ConversationLinkStore
from tests.adapters.store.world import ALICE, ISSUE, REPO, World, trigger

CHAT = TalkThread(service="slack", place="T1/C1", kind=ThreadKind.CHAT, id="1.1")
TICKET = TalkThread(
    service="jira", place="acme.test/APP", kind=ThreadKind.TICKET, id="APP-7"
)
OTHER = ForgeThread(repo=REPO, kind=ThreadKind.ISSUE, number=8)


def asked_in(thread: ThreadRef, key: str, request: str = "fix it") -> Trigger:
    return trigger(key, request).replace(thread=thread, repo=REPO, person=ALICE)


def ask(world: World, thread: ThreadRef, key: str, request: str = "fix it") -> JobId:
    job_id = world.deliver(asked_in(thread, key, request), key).job_id
    assert job_id is not None
    return job_id


def tying(world: World) -> ConversationLinkStore:
    return ConversationLinkStore(world.database, world.events, RandomIds())


def move(
    world: World, lease: Lease, key: str, to: ThreadRef, *, joins: bool = True
) -> JobId | None:
    """Have the request of a chat move where that thread is."""
    into = world.threads.conversation_of(to)
    assert into is not None
    now = world.clock.now()
    there = OtherConversation(named=to, conversation_id=into)
    return tying(world).move(lease, asked_in(CHAT, key), there, now, joins=joins)


def threads_of(world: World, job_id: JobId) -> set[str]:
    linked = world.threads.threads_of(world.conversation(job_id))
    return {str(one.ref) for one in linked}


def finish(world: World, job_id: JobId) -> None:
    lease = world.claim(job_id)
    outcome = Outcome(kind=OutcomeKind.ANSWERED, summary="Done.")
    now = world.clock.now()
    lease = world.outcomes.store(lease, outcome, [], read_up_to=0, now=now)
    world.outcomes.finish(lease, JobState.DONE, now)


def test_a_thread_is_tied_once_and_to_one_conversation(world: World) -> None:
    first, second = ask(world, CHAT, "a"), ask(world, ISSUE, "b")
    lease, now = world.claim(first), world.clock.now()
    assert tying(world).link(lease, TICKET, now) is None
    assert tying(world).link(lease, TICKET, now) is None
    assert threads_of(world, first) == {str(CHAT), str(TICKET)}
    assert tying(world).link(lease, ISSUE, now) == world.conversation(second)
    assert threads_of(world, second) == {str(ISSUE)}


def test_a_request_begins_a_job_where_none_works(world: World) -> None:
    done, moved = ask(world, ISSUE, "a"), ask(world, CHAT, "b")
    finish(world, done)
    new = move(world, world.claim(moved), "b", ISSUE)
    assert new is not None
    assert world.conversation(new) == world.conversation(done)
    assert world.job(new).trigger.thread == CHAT
    assert world.job(new).state is JobState.QUEUED
    assert world.job(moved).state is JobState.CANCELLED
    assert threads_of(world, new) == {str(ISSUE), str(CHAT)}
    assert world.requests.joined(new) == ()


@pytest.mark.parametrize("waits", [False, True])
def test_a_request_joins_the_job_that_is_there(world: World, *, waits: bool) -> None:
    there, moved = ask(world, ISSUE, "a"), ask(world, CHAT, "b", "and mind this")
    lease = world.claim(there)
    if waits:
        world.outcomes.wait(lease)
    assert move(world, world.claim(moved), "b", ISSUE) == there
    [joined] = world.requests.joined(there)
    assert joined.trigger.thread == CHAT
    assert world.log(there)[-1].id == joined.event_id
    state = JobState.QUEUED if waits else JobState.RUNNING
    assert world.job(there).state is state


def test_what_had_joined_moves_along_in_its_order(world: World) -> None:
    done, moved = ask(world, ISSUE, "a"), ask(world, CHAT, "b")
    finish(world, done)
    for number in ("1", "2"):
        assert ask(world, CHAT, number, f"word {number}") == moved
    new = move(world, world.claim(moved), "b", ISSUE)
    assert new is not None
    joined = world.requests.joined(new)
    assert [one.trigger.request for one in joined] == ["word 1", "word 2"]
    assert [one.id for one in world.log(new)] == [one.event_id for one in joined]
    assert world.requests.joined(moved) == ()
    assert {row["job_id"] for row in world.rows(deliveries)} == {done, new}


def test_nothing_moves_twice_or_by_a_worker_that_was_lost(world: World) -> None:
    ask(world, ISSUE, "a")
    moved = ask(world, CHAT, "b")
    old = world.claim(moved)
    world.leases.release(old)
    lease = world.claim(moved, "w2")
    with pytest.raises(LeaseLostError):
        move(world, old, "b", ISSUE)
    assert move(world, lease, "b", ISSUE) is not None
    with pytest.raises(LeaseLostError):
        move(world, lease, "b", ISSUE)
    assert len(world.requests.joined(ask(world, ISSUE, "c"))) == len(["b", "c"])


def test_a_request_that_may_not_join_stays(world: World) -> None:
    there, moved = ask(world, ISSUE, "a"), ask(world, CHAT, "b")
    lease = world.claim(moved)
    assert move(world, lease, "b", ISSUE, joins=False) is None
    assert world.job(moved).state is JobState.RUNNING
    assert threads_of(world, there) == {str(ISSUE)}
    finish(world, there)
    assert move(world, lease, "b", ISSUE, joins=False) is not None


def test_where_the_thread_is_not_any_more_nothing_goes(world: World) -> None:
    first, moved = ask(world, ISSUE, "a"), ask(world, CHAT, "b")
    stale = OtherConversation(named=OTHER, conversation_id=world.conversation(first))
    lease, now = world.claim(moved), world.clock.now()
    assert tying(world).move(lease, asked_in(CHAT, "b"), stale, now) is None
    assert world.job(moved).state is JobState.RUNNING


def test_a_command_gets_the_thread_that_was_begun_for_it(world: World) -> None:
    command = replace_id(CHAT, "cmd-1")
    job_id = ask(world, command, "a")
    lease, now = world.claim(job_id), world.clock.now()
    for _ in range(2):
        tying(world).replace(lease, command, CHAT, now)
    assert threads_of(world, job_id) == {str(CHAT)}
    assert world.threads.conversation_of(command) is None


def replace_id(thread: TalkThread, id_: str) -> TalkThread:
    return thread.replace(id=id_)


def test_two_that_move_towards_each_other_end_in_one_conversation(
    world: World, database_url: str
) -> None:
    """Each of two processes holds one, and wants the other."""
    ours, theirs = ask(world, CHAT, "a", "ours"), ask(world, ISSUE, "b", "theirs")
    leases = world.claim(ours), world.claim(theirs, "w2")
    both = Barrier(2)
    with closing(Database(database_url)) as other:
        worlds = world, World(other, world.clock)

        def go(number: int) -> JobId | None:
            mine = (CHAT, ISSUE)[number]
            there = (ISSUE, CHAT)[number]
            key, words = (("a", "ours"), ("b", "theirs"))[number]
            into = leases[1 - number].conversation_id
            both.wait()
            return tying(worlds[number]).move(
                leases[number],
                asked_in(mine, key, words),
                OtherConversation(named=there, conversation_id=into),
                world.clock.now(),
            )

        with ThreadPoolExecutor(2) as pool:
            moved = list(pool.map(go, range(2)))
    assert len([one for one in moved if one is not None]) == 1
    left = next(one for one in moved if one is not None)
    assert threads_of(world, left) == {str(CHAT), str(ISSUE)}
    said = {world.job(left).trigger.request}
    said |= {one.trigger.request for one in world.requests.joined(left)}
    assert said == {"ours", "theirs"}


def test_who_speaks_while_a_thread_moves_is_heard_where_it_went(
    world: World, database_url: str
) -> None:
    there, moved = ask(world, ISSUE, "a"), ask(world, CHAT, "b")
    lease = world.claim(moved)
    both = Barrier(2)
    with closing(Database(database_url)) as other:
        speaking = World(other, world.clock)

        def say(_: int) -> JobId:
            both.wait()
            return ask(speaking, CHAT, "c", "one more thing")

        with ThreadPoolExecutor(1) as pool:
            said = pool.map(say, range(1))
            both.wait()
            assert move(world, lease, "b", ISSUE) == there
            assert set(said) <= {there, moved}
    words = [one.trigger.request for one in world.requests.joined(there)]
    assert sorted(words) == ["fix it", "one more thing"]
