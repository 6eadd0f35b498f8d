"""What no webhook brought is found by looking, and is one run whoever brings it."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from patchwright.core.types.triggers import ParsedWebhook, Trigger
from patchwright.core.webhook import Delivery
from patchwright.integrations.gitlab.adapter import GitLab, connect_token
from patchwright.integrations.gitlab.connection import GitLabAddresses
from patchwright.integrations.gitlab.polling import (
    MAX_BACK,
    POLLING_OVERLAP,
    SETTLED_AFTER,
    GitLabPolling,
)
from patchwright.integrations.gitlab.webhooks.triggers import GitLabTriggerRules
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import deliveries, jobs
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.inbox.missed_deliveries import ReadPositions
from tests.adapters.gitlab.listening import APP, BOT, furnish, listen_to, told
from tests.adapters.store.world import World
from tests.fakes.clock import FakeClock
from tests.fakes.gitlab.acts.merges import Proposal
from tests.fakes.gitlab.fake import FakeGitLab
from tests.fakes.gitlab.thread_state import ThreadKind

MERGE = ThreadKind.MERGE_REQUEST
MINUTE = 60


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def world(tmp_path: Path, clock: FakeClock) -> Iterator[World]:
    with closing(Database(f"sqlite:///{tmp_path}/patchwright.db")) as database:
        upgrade(database)
        yield World(database, clock)


@pytest.fixture
def gitlab(clock: FakeClock) -> Iterator[FakeGitLab]:
    with FakeGitLab(clock=clock) as gitlab:
        furnish(gitlab)
        yield gitlab


@pytest.fixture
def connected(gitlab: FakeGitLab, clock: FakeClock) -> Iterator[GitLab]:
    token = next(
        one.value
        for one in gitlab.world.tokens.values()
        if one.user == gitlab.world.user(BOT).id
    )
    addresses = GitLabAddresses(base_url=gitlab.base_url)
    with closing(connect_token(addresses, SecretStr(token), clock=clock)) as connected:
        yield connected


@pytest.fixture
def found() -> "Found":
    return Found()


@pytest.fixture
def polling(world: World, connected: GitLab, found: "Found") -> Iterator[GitLabPolling]:
    """Return one that has looked before."""
    rules = GitLabTriggerRules(
        mention="@patchwright",
        label="patchwright",
        own_id=connected.api.own_user.id,
        own_login=BOT,
    )
    with world.open_intake() as inbox:
        look = GitLabPolling(
            connected.api,
            rules,
            lambda delivery: inbox.submit(found.note(delivery)),
            ReadPositions(world.database),
            world.clock,
        )
        look()
        world.clock.advance(MINUTE)
        yield look


@dataclass(frozen=True)
class Found:
    """What was asked, each in a line, in the order in which it came."""

    lines: list[str] = field(default_factory=list)

    def note(self, delivery: Delivery) -> Delivery:
        self.lines.append(told(delivery.reading))
        return delivery


def deliver(world: World, reading: ParsedWebhook) -> None:
    assert isinstance(reading, Trigger)
    with world.open_intake() as inbox:
        inbox.submit(
            Delivery(
                service="gitlab",
                id=f"d:{reading.key}",
                headers={},
                body=b"{}",
                received_at=world.clock.now(),
                reading=reading,
            )
        ).result(MINUTE)


def test_first_look_ever_starts_now(
    world: World, connected: GitLab, gitlab: FakeGitLab, clock: FakeClock
) -> None:
    gitlab.open_issue(APP, "ann", "It breaks", "@patchwright mend it")
    clock.advance(POLLING_OVERLAP.total_seconds() + MINUTE)
    rules = GitLabTriggerRules(mention="@patchwright")
    with world.open_intake() as inbox:
        look = GitLabPolling(
            connected.api, rules, inbox.submit, ReadPositions(world.database), clock
        )
        look()
        look()
    assert world.rows(jobs) == []


def test_everything_that_asks_is_found(
    found: Found, polling: GitLabPolling, gitlab: FakeGitLab, clock: FakeClock
) -> None:
    gitlab.commit_files(APP, "fix", {"a.py": "2\n"}, author="ann")
    gitlab.open_issue(APP, "ann", "It breaks", "@patchwright mend it")
    gitlab.open_issue(APP, "ann", "It leaks", "", confidential=True)
    gitlab.open_issue(APP, "ann", "It is slow", "Very.")
    gitlab.open_merge_request(
        APP, "ann", Proposal(title="Fix it", source="fix", target="main")
    )
    note = gitlab.comment(APP, 2, "ann", "@patchwright soon")
    inside = gitlab.comment(APP, 3, "ann", "@patchwright why?", internal=True)
    beside = gitlab.comment(APP, 1, "bob", "@patchwright help", kind=MERGE)
    gitlab.label(APP, 3, "patchwright", "ann")
    gitlab.assign(APP, 1, [BOT], "ann", MERGE)
    gitlab.comment(APP, 1, BOT, "@patchwright is me")
    clock.advance(SETTLED_AFTER.total_seconds() + MINUTE)
    polling()
    assert found.lines == [
        "body-mention app#1:body by ann: mend it",
        f"comment-mention app#2:comment:{note} (confidential) by ann: soon",
        "label app#3:label:2030-01-01T12:01:00 by ann",
        f"comment-mention app#3:comment:{inside} (internal) by ann: why?",
        f"comment-mention app!1:comment:{beside} by bob: help",
        "assignment app!1:assignment:2030-01-01T12:01:00 by ann",
    ]


def test_it_is_one_run_however_often_it_is_seen(
    world: World, polling: GitLabPolling, gitlab: FakeGitLab, clock: FakeClock
) -> None:
    listener = listen_to(gitlab, clock)
    gitlab.open_issue(APP, "ann", "It breaks", "@patchwright mend it")
    gitlab.comment(APP, 1, "ann", "@patchwright soon")
    for reading in listener.read_all():
        deliver(world, reading)
    [job] = world.rows(jobs)
    for _ in range(3):
        clock.advance(MINUTE)
        polling()
    assert [one["id"] for one in world.rows(jobs)] == [job["id"]]
    verdicts = [row["verdict"] for row in world.rows(deliveries)]
    assert verdicts == ["accepted", "joined", "duplicate", "duplicate"]


def test_label_and_its_webhook_are_one_request(
    world: World, polling: GitLabPolling, gitlab: FakeGitLab, clock: FakeClock
) -> None:
    listener = listen_to(gitlab, clock)
    gitlab.open_issue(APP, "ann", "It breaks", "")
    gitlab.label(APP, 1, "patchwright", "ann")
    _, label = listener.read_all()
    deliver(world, label)
    clock.advance(SETTLED_AFTER.total_seconds() + MINUTE)
    polling()
    verdicts = [row["verdict"] for row in world.rows(deliveries)]
    assert verdicts == ["accepted", "duplicate"]


def test_young_label_is_left_to_its_webhook(
    world: World, polling: GitLabPolling, gitlab: FakeGitLab, clock: FakeClock
) -> None:
    gitlab.open_issue(APP, "ann", "It breaks", "", labels=["patchwright"])
    clock.advance(MINUTE)
    polling()
    assert world.rows(jobs) == []
    clock.advance(2 * MINUTE)
    polling()
    assert len(world.rows(jobs)) == 1


def test_edit_that_adds_a_mention_is_found(
    found: Found, polling: GitLabPolling, gitlab: FakeGitLab, clock: FakeClock
) -> None:
    gitlab.open_issue(APP, "ann", "It breaks", "")
    note = gitlab.comment(APP, 1, "ann", "It does.")
    clock.advance(3600)
    polling()
    gitlab.edit_comment(note, "ann", "It does. @patchwright mend it")
    clock.advance(MINUTE)
    polling()
    assert found.lines[-1] == f"comment-mention app#1:comment:{note} by ann: mend it"


def test_nothing_is_lost_while_gitlab_is_away(
    world: World, polling: GitLabPolling, gitlab: FakeGitLab, clock: FakeClock
) -> None:
    gitlab.open_issue(APP, "ann", "It breaks", "@patchwright mend it")
    gitlab.fail_next("GET", "/notes", 500, times=4)
    clock.advance(MINUTE)
    polling()
    assert world.rows(jobs) == []
    clock.advance(3600)
    polling()
    assert len(world.rows(jobs)) == 1


def test_project_that_is_hidden_now_hides_no_other(
    world: World, polling: GitLabPolling, gitlab: FakeGitLab, clock: FakeClock
) -> None:
    gitlab.open_issue(APP, "ann", "It breaks", "@patchwright mend it")
    gitlab.fail_next("GET", "/merge_requests", 403)
    gitlab.fail_next("GET", "/notes", 404)
    clock.advance(MINUTE)
    polling()
    polling()
    assert len(world.rows(jobs)) == 1


def test_what_is_too_old_is_given_up(
    world: World, polling: GitLabPolling, gitlab: FakeGitLab, clock: FakeClock
) -> None:
    gitlab.open_issue(APP, "ann", "It breaks", "@patchwright mend it")
    clock.advance((MAX_BACK + timedelta(hours=1)).total_seconds())
    polling()
    assert world.rows(jobs) == []
