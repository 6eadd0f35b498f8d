"""What no delivery brought is found by looking, and is one run whoever brings it."""

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from patchwright.core.types.errors import ServiceUnavailableError
from patchwright.core.types.triggers import Trigger
from patchwright.core.webhook import Delivery
from patchwright.integrations.jira.compose import MAX_BACK, POLLING_OVERLAP, JiraPolling
from patchwright.integrations.jira.webhooks.payloads import JsonObject
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import deliveries, hook_marks, jobs
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.inbox.inbox import Inbox
from patchwright.workers.inbox.missed_deliveries import ReadPositions
from tests.adapters.store.world import World
from tests.unit.jira.samples import LISTENING, comment, issue, said, trigger_of

MINUTE = 60


@dataclass
class Site:
    """Tickets by key, each with when it was changed.

    `answers` is how many of them it tells before it goes away.
    """

    now: Callable[[], datetime]
    tickets: dict[str, tuple[datetime, JsonObject]] = field(default_factory=dict)
    asked: list[datetime] = field(default_factory=list)
    answers: int = 99

    def search(self, since: datetime) -> Iterator[JsonObject]:
        self.asked.append(since)
        found = [one for at, one in self.tickets.values() if at >= since]
        yield from found[: self.answers]
        if self.answers <= len(found):
            raise ServiceUnavailableError("Jira did not answer")

    def say(self, body: str, ticket: str = "APP-7", number: int = 501) -> JsonObject:
        at = self.now().isoformat(timespec="milliseconds")
        words: JsonObject = said(body, id=str(number), created=at, updated=at)
        self.put(issue(key=ticket, updated=at, comment={"comments": [words]}))
        return words

    def put(self, ticket: dict[str, Any]) -> None:
        self.tickets[str(ticket["key"])] = (self.now(), ticket)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with closing(Database(f"sqlite:///{tmp_path}/patchwright.db")) as database:
        upgrade(database)
        yield World(database)


@pytest.fixture
def site(world: World) -> Site:
    return Site(world.clock.now)


@pytest.fixture
def inbox(world: World) -> Iterator[Inbox]:
    with world.open_intake() as opened:
        yield opened


@pytest.fixture
def polling(world: World, site: Site, inbox: Inbox) -> JiraPolling:
    """Return one that has looked before."""
    look = JiraPolling(
        trigger_rules=LISTENING,
        search=site.search,
        submit=inbox.submit,
        marks=ReadPositions(world.database),
        clock=world.clock,
    )
    look()
    world.clock.advance(MINUTE)
    return look


def deliver(world: World, trigger: Trigger, name: str) -> Delivery:
    return Delivery(
        service="jira",
        id=name,
        headers={},
        body=b"{}",
        received_at=world.clock.now(),
        reading=trigger,
    )


def verdicts(world: World) -> list[object]:
    return [row["verdict"] for row in world.rows(deliveries)]


def test_first_look_ever_starts_now(world: World, site: Site, inbox: Inbox) -> None:
    site.say("@patchwright fix it")
    world.clock.advance(POLLING_OVERLAP.total_seconds() + MINUTE)
    look = JiraPolling(
        LISTENING, site.search, inbox.submit, ReadPositions(world.database), world.clock
    )
    look()
    look()
    assert world.rows(jobs) == []


def test_what_no_delivery_brought_is_found(
    world: World, site: Site, polling: JiraPolling
) -> None:
    site.say("@patchwright fix it")
    world.clock.advance(MINUTE)
    polling()
    [job] = world.rows(jobs)
    assert world.dispatched == [job["id"]]
    [row] = world.rows(deliveries)
    assert row["service"] == "jira"


def test_it_is_one_run_however_often_it_is_seen(
    world: World, site: Site, polling: JiraPolling
) -> None:
    site.say("@patchwright fix it")
    for _ in range(5):
        polling()
        world.clock.advance(MINUTE)
    assert len(world.rows(jobs)) == 1
    assert verdicts(world) == ["accepted"]


@pytest.mark.parametrize("delivery_first", [True, False])
def test_it_is_one_run_whoever_brings_it(
    world: World,
    site: Site,
    polling: JiraPolling,
    inbox: Inbox,
    *,
    delivery_first: bool,
) -> None:
    brought = trigger_of(comment("", comment=site.say("@patchwright fix it")))
    if not delivery_first:
        polling()
    inbox.submit(deliver(world, brought, "d1")).result()
    polling()
    assert len(world.rows(jobs)) == 1
    assert sorted(map(str, verdicts(world))) == ["accepted", "duplicate"]


def test_site_that_is_away_is_asked_from_the_same_moment_again(
    world: World, site: Site, polling: JiraPolling
) -> None:
    site.say("@patchwright fix it")
    site.answers = 0
    for _ in range(3):
        world.clock.advance(10 * MINUTE)
        polling()
    assert len(set(site.asked)) == 1
    site.answers = 99
    polling()
    assert len(world.rows(jobs)) == 1
    [mark] = world.rows(hook_marks)
    assert mark["read_up_to"] == world.clock.now()


def test_what_was_read_before_it_went_away_is_not_read_again(
    world: World, site: Site, polling: JiraPolling
) -> None:
    for number in range(1, 4):
        site.say("@patchwright fix it", f"APP-{number}", number)
        world.clock.advance(10 * MINUTE)
    site.answers = 2
    for known in (2, 3):
        polling()
        assert len(world.rows(jobs)) == known
    assert site.asked[-1] == site.tickets["APP-2"][0] - POLLING_OVERLAP


def test_nothing_is_passed_over_while_the_intake_is_closed(
    world: World, site: Site, polling: JiraPolling, inbox: Inbox
) -> None:
    [before] = world.rows(hook_marks)
    site.say("@patchwright fix it")
    inbox.close()
    polling()
    assert world.rows(hook_marks) == [before]
    with world.open_intake() as reopened:
        JiraPolling(
            LISTENING,
            site.search,
            reopened.submit,
            polling.marks,
            world.clock,
        )()
    assert len(world.rows(jobs)) == 1


def test_clock_of_the_site_may_be_slow(
    world: World, site: Site, polling: JiraPolling
) -> None:
    slow = POLLING_OVERLAP - timedelta(seconds=30)
    site.now = lambda: world.clock.now() - slow
    site.say("@patchwright fix it")
    polling()
    assert len(world.rows(jobs)) == 1


def test_ticket_that_makes_no_sense_hides_no_other(
    world: World, site: Site, polling: JiraPolling
) -> None:
    site.put({"key": "APP-1", "self": None})
    site.say("@patchwright fix it")
    polling()
    assert len(world.rows(jobs)) == 1


def test_what_is_very_old_is_given_up(
    world: World, site: Site, polling: JiraPolling
) -> None:
    site.say("@patchwright fix it")
    world.clock.advance((MAX_BACK + POLLING_OVERLAP).total_seconds() + MINUTE)
    site.say("@patchwright fix that", "APP-8", 502)
    polling()
    assert len(world.rows(jobs)) == 1
    assert site.asked[-1] == world.clock.now() - MAX_BACK - POLLING_OVERLAP
