"""A ticket keeps its conversation when it is moved, and its answers their readers."""

import pytest

from patchwright.core.types.base import JobId
from patchwright.core.types.threads import TalkThread, ThreadKind
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.resolver.job import JobState
from patchwright.workers.inbox.recorder import LEFT_OUT
from tests.adapters.store.world import ISSUE, World, trigger

SITE = "acme.atlassian.net"
DEVELOPERS = "role:Developers"


def ticket(
    key: str = "APP-7", audience: str = "", lasting: str = "10007"
) -> TalkThread:
    return TalkThread(
        service="jira",
        place=f"{SITE}/{key.partition('-')[0]}",
        kind=ThreadKind.TICKET,
        id=key,
        lasting_id=lasting,
        audience=audience,
    )


def asked(name: str, thread: TalkThread, words: str = "fix it") -> Trigger:
    return trigger(name, words).replace(thread=thread)


def ask(world: World, name: str, thread: TalkThread, words: str = "fix it") -> JobId:
    job_id = world.deliver(asked(name, thread, words)).job_id
    assert job_id is not None
    return job_id


def audience_of(world: World, job_id: JobId) -> list[str]:
    linked = world.threads.threads_of(world.conversation(job_id))
    return [one.ref.audience for one in linked if isinstance(one.ref, TalkThread)]


def words_heard(world: World, job_id: JobId) -> list[str]:
    return [one.trigger.request for one in world.requests.joined(job_id)]


def test_a_moved_ticket_asks_in_the_conversation_it_had(world: World) -> None:
    first = ask(world, "k1", ticket())
    assert ask(world, "k2", ticket("OPS-3")) == first
    linked = world.threads.threads_of(world.conversation(first))
    assert [one.ref for one in linked] == [ticket("OPS-3")]


def test_a_ticket_that_was_known_by_its_key_alone_is_followed_from_then_on(
    world: World,
) -> None:
    first = ask(world, "k1", ticket(lasting=""))
    assert ask(world, "k2", ticket()) == first
    assert ask(world, "k3", ticket("OPS-3")) == first


def test_another_ticket_has_a_conversation_of_its_own(world: World) -> None:
    first = ask(world, "k1", ticket())
    other = ask(world, "k2", ticket("APP-8", lasting="10008"))
    assert world.conversation(first) != world.conversation(other)


def test_a_plain_answer_on_a_moved_ticket_reaches_the_run_that_waits(
    world: World,
) -> None:
    first = ask(world, "k1", ticket())
    world.outcomes.wait(world.claim(first))
    said = asked("k2", ticket("OPS-3"), "the second one")
    reply = said.replace(kind=TriggerKind.REPLY)
    assert world.deliver(reply).job_id == first


def test_who_may_read_a_request_is_kept_for_its_answer(world: World) -> None:
    job_id = ask(world, "k1", ticket(audience=DEVELOPERS))
    thread = world.job(job_id).trigger.thread
    assert isinstance(thread, TalkThread)
    assert thread.audience == DEVELOPERS
    assert audience_of(world, job_id) == [DEVELOPERS]


def test_who_may_read_a_note_of_an_issue_is_kept_too(world: World) -> None:
    internal = ISSUE.replace(audience="internal")
    job_id = world.deliver(trigger("k1").replace(thread=internal)).job_id
    assert job_id is not None
    assert world.job(job_id).trigger.thread.audience == "internal"
    [linked] = world.threads.threads_of(world.conversation(job_id))
    assert linked.ref.audience == "internal"
    assert linked.ref == ISSUE


def test_a_run_beside_the_code_does_not_hear_what_some_alone_may_read(
    world: World,
) -> None:
    job_id = world.deliver(trigger("k1")).job_id
    assert job_id is not None
    internal = ISSUE.replace(audience="internal")
    world.deliver(trigger("k2", "the password is x").replace(thread=internal))
    [heard] = words_heard(world, job_id)
    assert "password" not in heard


def test_who_may_read_a_later_request_of_the_ticket_is_kept_too(world: World) -> None:
    first = ask(world, "k1", ticket())
    world.outcomes.finish(world.claim(first), JobState.DONE, world.clock.now())
    second = ask(world, "k2", ticket(audience=DEVELOPERS))
    assert world.conversation(second) == world.conversation(first)
    assert audience_of(world, second) == [DEVELOPERS]


def test_a_run_that_answers_to_all_does_not_hear_what_some_alone_may_read(
    world: World,
) -> None:
    job_id = ask(world, "k1", ticket())
    world.claim(job_id)
    ask(world, "k2", ticket(audience=DEVELOPERS), "the password is swordfish")
    ask(world, "k3", ticket(audience=DEVELOPERS), "stop")
    assert words_heard(world, job_id) == [LEFT_OUT, "stop"]
    assert audience_of(world, job_id) == [""]


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        ("retry with swordfish", "retry"),
        ("plan: swordfish", "plan"),
        ("stop, swordfish", "stop"),
        ("budget +2 for swordfish", "budget"),
        ("budget +2", "budget +2"),
    ],
)
def test_of_a_command_that_some_alone_may_read_no_free_words_are_heard(
    world: World, said: str, heard: str
) -> None:
    job_id = ask(world, "k1", ticket())
    world.claim(job_id)
    ask(world, "k2", ticket(audience=DEVELOPERS), said)
    assert words_heard(world, job_id) == [heard]
    [joined] = world.requests.joined(job_id)
    assert "swordfish" not in joined.model_dump_json()


def test_a_run_that_waits_answers_from_then_on_to_those_who_may_read_it(
    world: World,
) -> None:
    job_id = ask(world, "k1", ticket())
    world.outcomes.wait(world.claim(job_id))
    ask(world, "k2", ticket(audience=DEVELOPERS), "take the customer's data")
    assert words_heard(world, job_id) == ["take the customer's data"]
    thread = world.job(job_id).trigger.thread
    assert isinstance(thread, TalkThread)
    assert thread.audience == DEVELOPERS
    assert audience_of(world, job_id) == [DEVELOPERS]


def test_what_all_may_read_reaches_a_run_for_some(world: World) -> None:
    job_id = ask(world, "k1", ticket(audience=DEVELOPERS))
    world.claim(job_id)
    ask(world, "k2", ticket(), "and the docs")
    assert words_heard(world, job_id) == ["and the docs"]
