"""A look at the site finds the requests that its deliveries tell."""

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta

import pytest
from pydantic import SecretStr

from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.integrations.jira.adapter import connect_jira
from patchwright.integrations.jira.webhooks.reader import JiraReceiver
from patchwright.integrations.jira.webhooks.tickets import find_requests
from patchwright.integrations.jira.webhooks.triggers import JiraTriggerRules
from tests.fakes.clock import FakeClock
from tests.fakes.jira.fake import FakeJira

SECRET = "of the webhook"


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["cloud", "data-center"])
def jira(request: pytest.FixtureRequest, clock: FakeClock) -> Iterator[FakeJira]:
    with FakeJira(cloud=request.param == "cloud", clock=clock) as fake:
        fake.add_webhook(SECRET)
        fake.add_project("APP")
        yield fake


@pytest.fixture
def ann(jira: FakeJira) -> str:
    return jira.add_user("ann")


def listen(jira: FakeJira) -> JiraTriggerRules:
    settings = jira.settings()
    return JiraTriggerRules(
        host=settings.host,
        projects=frozenset(settings.projects),
        mention=settings.mention,
        label="fix-me",
        own_ids=frozenset({jira.bot}),
    )


def delivered(jira: FakeJira) -> dict[str, Trigger]:
    receiver = JiraReceiver([SecretStr(SECRET)], listen(jira))
    readings = (receiver.read(one.headers, one.body) for one in jira.deliveries)
    return {one.key: one for one in readings if isinstance(one, Trigger)}


def found(jira: FakeJira, clock: FakeClock) -> dict[str, Trigger]:
    listening = listen(jira)
    since = clock.now() - timedelta(hours=1)
    with closing(connect_jira(jira.settings(), clock)) as site:
        tickets = list(site.search_updated(since, listening.projects))
    triggers = (find_requests(one, listening, since).triggers for one in tickets)
    return {one.key: one for some in triggers for one in some}


def what_was_asked(triggers: dict[str, Trigger]) -> dict[str, object]:
    """Leave out the text of the ticket, which deliveries of comments do not have."""
    return {
        key: (one.kind, one.actor, one.thread, one.title, one.request, one.text)
        for key, one in triggers.items()
    }


def test_both_tell_the_same_requests(
    jira: FakeJira, clock: FakeClock, ann: str
) -> None:
    us = jira.mention(jira.bot)
    first = jira.create("APP", ann, "Wrong sum", f"Off by one. {us} fix it")
    second = jira.create("APP", ann, "Slow", "It takes *minutes*.")
    clock.advance(60)
    jira.comment(first, ann, f"{us} and add a test")
    jira.comment(second, ann, "Does it?")
    clock.advance(60)
    jira.label(second, ann, "fix-me")
    clock.advance(60)
    jira.assign(second, ann, jira.bot)
    jira.comment(second, jira.bot, f"{us} is what we say")
    asked = delivered(jira)
    assert what_was_asked(found(jira, clock)) == what_was_asked(asked)
    assert sorted(one.kind for one in asked.values()) == [
        TriggerKind.ASSIGNMENT,
        TriggerKind.BODY_MENTION,
        TriggerKind.COMMENT_MENTION,
        TriggerKind.LABEL,
        TriggerKind.REPLY,
    ]


def test_mention_that_an_edit_adds_is_one_request(
    jira: FakeJira, clock: FakeClock, ann: str
) -> None:
    key = jira.create("APP", ann, "Wrong sum")
    comment = jira.comment(key, ann, "Have a look.")
    clock.advance(60)
    jira.edit_comment(comment, ann, "@patchwright have a look.")
    asks = [
        key
        for key, one in delivered(jira).items()
        if one.kind is TriggerKind.COMMENT_MENTION
    ]
    assert list(found(jira, clock)) == asks


def test_comment_that_is_gone_is_not_found(
    jira: FakeJira, clock: FakeClock, ann: str
) -> None:
    key = jira.create("APP", ann, "Wrong sum")
    jira.delete_comment(jira.comment(key, ann, "@patchwright fix it"))
    assert found(jira, clock) == {}


def test_label_of_a_new_ticket_is_one_request_though_it_comes_a_second_later(
    jira: FakeJira, clock: FakeClock, ann: str
) -> None:
    key = jira.create("APP", ann, "Wrong sum")
    clock.advance(1)
    jira.label(key, ann, "fix-me")
    other = jira.create("APP", ann, "Slow", labels=["fix-me"])
    assert what_was_asked(found(jira, clock)) == what_was_asked(delivered(jira))
    assert len({str(one.thread) for one in found(jira, clock).values()}) == 2
    assert other != key
