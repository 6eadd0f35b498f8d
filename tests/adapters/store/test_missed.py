"""Missed deliveries are kept until they have come, and asked for ever less often."""

from datetime import datetime, timedelta

import pytest

from patchwright.core.plugin import DeliveryAttempt
from patchwright.core.types.threads import RepoRef
from patchwright.core.types.triggers import Ignored
from patchwright.workers.inbox.missed_deliveries import MAX_ASKED, MissedDeliveryStore
from tests.adapters.store.world import ISSUE, World, trigger

HOOK = "/app/hook"


@pytest.fixture
def missed(world: World) -> MissedDeliveryStore:
    return MissedDeliveryStore(world.database, "github")


def attempt(number: int, at: datetime, guid: str = "g1") -> DeliveryAttempt:
    return DeliveryAttempt(id=number, guid=guid, delivered_at=at, status_code=502)


def due(missed: MissedDeliveryStore) -> list[tuple[str, int]]:
    found = missed.take_due(HOOK)
    return [(one.delivery_id, one.attempt_id) for one in found]


def test_the_newest_attempt_is_asked_for_at_once(
    world: World, missed: MissedDeliveryStore
) -> None:
    now = world.clock.now()
    earlier = attempt(1, now - timedelta(minutes=2))
    missed.note(HOOK, [attempt(2, now), earlier])
    assert due(missed) == [("g1", 2)]
    assert missed.read_up_to(HOOK) == now
    assert missed.read_up_to("/another") is None


def test_what_has_come_is_not_asked_for(
    world: World, missed: MissedDeliveryStore
) -> None:
    now = world.clock.now()
    world.deliver(Ignored(reason="no-mention"), "g1")
    missed.note(HOOK, [attempt(1, now), attempt(2, now, "g2")])
    assert due(missed) == [("g2", 2)]


def test_it_is_asked_for_ever_less_often_and_not_for_ever(
    world: World, missed: MissedDeliveryStore
) -> None:
    missed.note(HOOK, [attempt(1, world.clock.now())])
    waits = []
    for _ in range(MAX_ASKED):
        minutes = 0
        while not (found := missed.take_due(HOOK)):
            world.clock.advance(60)
            minutes += 1
        missed.mark_asked(found[0])
        waits.append(minutes)
    assert waits == [0, 5, 10, 20, 40, 80, 160, 320]
    world.clock.advance(24 * 3600)
    assert due(missed) == []


def test_an_attempt_that_failed_again_takes_the_place_of_the_first(
    world: World, missed: MissedDeliveryStore
) -> None:
    missed.note(HOOK, [attempt(1, world.clock.now())])
    [first] = missed.take_due(HOOK)
    missed.mark_asked(first)
    missed.note(HOOK, [attempt(2, world.clock.now())])
    assert due(missed) == []
    world.clock.advance(300)
    assert due(missed) == [("g1", 2)]


def test_what_the_sender_does_not_keep_any_more_is_given_up(
    world: World, missed: MissedDeliveryStore
) -> None:
    missed.note(HOOK, [attempt(1, world.clock.now())])
    world.clock.advance(3 * 24 * 3600 + 1)
    assert due(missed) == []


def test_the_repositories_with_the_newest_conversations_are_listed(
    world: World,
) -> None:
    for number, name in enumerate(["acme/shop", "acme/api", "acme/shop"]):
        repo = RepoRef(forge="github", full_name=name)
        thread = ISSUE.replace(repo=repo, number=number)
        world.deliver(trigger(f"k{number}").replace(thread=thread))
        world.clock.advance(1)
    names = [repo.full_name for repo in world.threads.newest_repositories("github")]
    assert names == ["acme/shop", "acme/api"]
    assert world.threads.newest_repositories("slack") == ()


def test_what_was_asked_for_in_vain_is_not_taken_for_new(
    world: World, missed: MissedDeliveryStore
) -> None:
    missed.note(HOOK, [attempt(1, world.clock.now())])
    for times in range(MAX_ASKED):
        [again] = missed.take_due(HOOK)
        missed.mark_asked(again)
        world.clock.advance(300 * 2**times)
    last = attempt(9, world.clock.now())
    missed.note(HOOK, [last])
    # The first attempt is older now than the sender keeps any; the last one is listed.
    world.clock.advance(3 * 24 * 3600 - 3600)
    assert due(missed) == []
    missed.note(HOOK, [last])
    assert due(missed) == []
