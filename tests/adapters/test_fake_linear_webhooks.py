"""The webhooks of the fake Linear: what they tell, who signed them, and when again."""

import hashlib
import hmac
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.fakes.clock import FakeClock
from tests.fakes.github.exchange import Request
from tests.fakes.github.server import Server, Wire
from tests.fakes.linear.client import of_app, of_person
from tests.fakes.linear.contract import (
    ContractError,
    described_bodies,
    wrong_deliveries,
)
from tests.fakes.linear.fake import FakeLinear
from tests.fakes.linear.state import Team
from tests.fakes.linear.webhooks import deliver

SECRET = "hush"


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def linear(clock: FakeClock) -> Iterator[FakeLinear]:
    with FakeLinear(clock=clock) as fake:
        fake.add_team("ENG", "Engineering")
        fake.add_webhook(SECRET)
        yield fake


@pytest.fixture
def ann(linear: FakeLinear) -> str:
    return linear.add_user("ann", "Ann Lee", admin=True)


@pytest.fixture
def key(linear: FakeLinear, ann: str) -> str:
    return linear.create("ENG", ann, "Wrong sum", "Off by one.")


def newest(linear: FakeLinear) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(linear.deliveries[-1].body)
    return body


class Receiver:
    """Answers as it is told to, and keeps what it got."""

    def __init__(self, *statuses: int) -> None:
        self.statuses = list(statuses)
        self.got: list[Request] = []

    def respond(self, request: Request) -> Wire:
        self.got.append(request)
        return Wire(self.statuses.pop(0), {}, b"ok")


def test_a_delivery_is_signed_over_its_bytes(linear: FakeLinear, key: str) -> None:
    sent = linear.delivery("Issue", "create")
    digest = hmac.new(SECRET.encode(), sent.body, hashlib.sha256).hexdigest()
    assert sent.headers == {
        "Content-Type": "application/json; charset=utf-8",
        "User-Agent": "Linear-Webhook",
        "Linear-Delivery": sent.id,
        "Linear-Event": "Issue",
        "Linear-Timestamp": "1893499200000",
        "Linear-Signature": digest,
    }
    body = newest(linear)
    assert body["webhookTimestamp"] == 1893499200000
    assert body["organizationId"] == linear.workspace
    assert body["data"]["identifier"] == key


def test_what_changed_is_told_with_what_was_before(
    linear: FakeLinear, key: str, ann: str, clock: FakeClock
) -> None:
    linear.label(key, ann, "Bug")
    [bug] = linear.issue(key).labels
    clock.advance(5)
    linear.label(key, ann, "patchwright")
    body = newest(linear)
    assert (body["type"], body["action"]) == ("Issue", "update")
    assert body["updatedFrom"] == {
        "updatedAt": "2030-01-01T12:00:00.000Z",
        "labelIds": [bug],
    }
    assert [one["name"] for one in body["data"]["labels"]] == ["Bug", "patchwright"]
    assert body["actor"]["id"] == ann
    linear.label(key, ann, "patchwright")
    assert newest(linear) == body


def test_a_move_tells_the_old_team_and_number(
    linear: FakeLinear, key: str, ann: str
) -> None:
    linear.add_team("OPS")
    linear.create("OPS", ann, "Another")
    eng = linear.issue(key).team
    linear.move_to_team(key, ann, "OPS")
    body = newest(linear)
    assert body["data"]["identifier"] == "OPS-2"
    assert body["data"]["previousIdentifiers"] == ["ENG-1"]
    assert body["updatedFrom"]["teamId"] == eng
    assert body["updatedFrom"]["number"] == 1


def test_comments_are_told_in_all_they_go_through(
    linear: FakeLinear, key: str, ann: str
) -> None:
    root = linear.comment(key, ann, "Off by one.")
    reply = linear.comment(key, ann, "Or two.", parent=root)
    told = newest(linear)
    assert told["data"]["parent"]["id"] == told["data"]["parentId"] == root
    linear.edit_comment(reply, ann, "Or three.")
    assert newest(linear)["updatedFrom"]["body"] == "Or two."
    linear.delete_comment(root)
    removed = [one for one in linear.deliveries if one.action == "remove"]
    ids = [json.loads(one.body)["data"]["id"] for one in removed]
    # The answers go with what they answer.
    assert ids == [reply, root]


def test_what_our_app_does_is_told_as_an_apps_doing(
    linear: FakeLinear, key: str
) -> None:
    of_app(linear).change("commentCreate", {"issueId": key, "body": "Working."})
    body = newest(linear)
    assert body["actor"]["type"] == "oauthClient"
    assert body["data"]["userId"] == linear.bot


def test_a_webhook_of_the_workspace_hears_no_sessions(
    linear: FakeLinear, ann: str
) -> None:
    linear.add_webhook("another", of_app=False)
    linear.create("ENG", ann, "Wrong sum", "@patchwright fix it")
    by_secret = {SECRET: set[str](), "another": set[str]()}
    for one in linear.deliveries:
        by_secret[one.secret].add(one.event)
    assert by_secret == {
        SECRET: {"Issue", "AppUserNotification", "AgentSessionEvent"},
        "another": {"Issue"},
    }


def test_a_silent_linear_tells_nothing(linear: FakeLinear, key: str, ann: str) -> None:
    before = linear.deliveries
    linear.silence()
    linear.comment(key, ann, "Off by one.")
    assert linear.deliveries == before


def test_an_admin_adds_changes_and_removes_a_webhook(
    linear: FakeLinear, ann: str
) -> None:
    [team] = linear.world.all(Team)
    asked = {"url": "https://bot.example/", "resourceTypes": ["Comment"]}
    program = of_person(linear, ann)
    assert program.change("webhookCreate", asked).code == "INVALID_INPUT"
    reply = program.change(
        "webhookCreate", {**asked, "teamId": team.id}, "webhook { id secret }"
    )
    hook = reply.data["webhookCreate"]["webhook"]
    key = linear.create("ENG", ann, "Wrong sum")
    linear.comment(key, ann, "Off by one.")
    assert [one.secret for one in linear.deliveries].count(hook["secret"]) == 1
    update = """mutation($id: String!) {
      webhookUpdate(id: $id, input: {enabled: false}) { webhook { enabled } } }"""
    shown = program.ask(update, id=hook["id"]).data["webhookUpdate"]["webhook"]
    assert shown == {"enabled": False}
    linear.comment(key, ann, "Or two.")
    assert [one.secret for one in linear.deliveries].count(hook["secret"]) == 1
    delete = "mutation($id: String!) { webhookDelete(id: $id) { success } }"
    assert program.ask(delete, id=hook["id"]).data["webhookDelete"]["success"]
    assert of_app(linear).change("webhookCreate", asked).code == "FORBIDDEN"


@pytest.mark.parametrize("wrong", [500, 401])
def test_whatever_is_not_taken_with_200_comes_again_three_times(
    linear: FakeLinear, key: str, clock: FakeClock, wrong: int
) -> None:
    receiver = Receiver(wrong, wrong, wrong, wrong, 200)
    sent = linear.delivery("Issue", "create")
    with Server(receiver.respond) as server:
        deliver(sent, server.url)
        for minutes in (1, 60, 360):
            clock.advance(minutes * 60 - 1)
            assert linear.retry(server.url) == []
            clock.advance(1)
            assert linear.retry(server.url) == [wrong]
        clock.advance(24 * 3600)
        assert linear.retry(server.url) == []
    heads = [one.headers for one in receiver.got]
    assert {one["linear-delivery"] for one in heads} == {sent.id}
    # Each try has a time and a signature of its own.
    assert len({one["linear-timestamp"] for one in heads}) == 4
    for one in receiver.got:
        digest = hmac.new(SECRET.encode(), one.body, hashlib.sha256).hexdigest()
        assert one.headers["linear-signature"] == digest
    assert key


def test_what_was_taken_does_not_come_again(
    linear: FakeLinear, key: str, clock: FakeClock
) -> None:
    receiver = Receiver(500, 200)
    with Server(receiver.respond) as server:
        deliver(linear.delivery("Issue", "create"), server.url)
        assert linear.untaken() == [linear.delivery("Issue", "create")]
        clock.advance(60)
        assert linear.retry(server.url) == [200]
        assert linear.untaken() == []
        clock.advance(24 * 3600)
        assert linear.retry(server.url) == []
    assert key


def test_whoever_says_otherwise_that_it_took_something_is_found_out() -> None:
    words = "Issue create was answered with 202: Linear takes 200 alone"
    with pytest.raises(ContractError, match=words):
        tell_somebody(Receiver(202))


def tell_somebody(receiver: Receiver) -> None:
    with Server(receiver.respond) as server, FakeLinear() as linear:
        linear.add_team("ENG")
        linear.add_webhook(SECRET)
        linear.create("ENG", linear.add_user("ann"), "Wrong sum")
        deliver(linear.delivery("Issue", "create"), server.url)


def test_whoever_cannot_be_reached_is_asked_again(
    linear: FakeLinear, key: str, clock: FakeClock
) -> None:
    sent = linear.delivery("Issue", "create")
    with Server(Receiver().respond) as server:
        gone = server.url
    assert deliver(sent, gone).status == 0
    assert sent.retry_at is not None
    assert (sent.retry_at - clock.now()).total_seconds() == 60
    assert key


def everything(linear: FakeLinear, ann: str) -> None:
    """Let people and our app do all that is told of."""
    linear.guide("Each fix needs a test.")
    linear.add_team("OPS")
    linear.add_team("SEC", members=[ann])
    linear.admit("SEC")
    project = linear.add_project("Shop", "ENG")
    key = linear.create("ENG", ann, "Wrong sum", "Off by one.", labels=["Bug"])
    comment = linear.comment(key, ann, f"{linear.mention(linear.bot)} fix it")
    linear.react(comment, ann, "eyes")
    linear.prompt(key, ann, "In cents.")
    linear.stop(key, ann)
    linear.edit_comment(comment, ann, "Never mind.")
    linear.assign(key, ann, ann)
    linear.delegate(key, ann, linear.bot)
    linear.transition(key, ann, "In Progress")
    linear.comment(key, ann, "Any news?")
    own = linear.comment(key, linear.bot, "Soon.")
    linear.react(own, ann, "heart")
    linear.set_project(key, ann, project)
    linear.sync(key, ann, "https://github.com/acme/shop/issues/4")
    linear.attach(key, ann, "https://example.com/", "A page")
    linear.edit(key, ann, title="Wrong sum of pieces")
    linear.unlabel(key, ann, "Bug")
    linear.delegate(key, ann, None)
    moved = linear.move_to_team(key, ann, "OPS")
    linear.delete_comment(comment)
    linear.archive(moved, ann)
    linear.remove(moved, ann)
    linear.uninstall()


EVERYTHING = {
    "AgentSessionEvent.created",
    "AgentSessionEvent.prompted",
    "AppUserNotification.issueAssignedToYou",
    "AppUserNotification.issueCommentMention",
    "AppUserNotification.issueCommentReaction",
    "AppUserNotification.issueNewComment",
    "AppUserNotification.issueStatusChanged",
    "AppUserNotification.issueUnassignedFromYou",
    "Attachment.create",
    "Comment.create",
    "Comment.remove",
    "Comment.update",
    "Issue.create",
    "Issue.remove",
    "Issue.update",
    "OAuthApp.revoked",
    "PermissionChange.teamAccessChanged",
    "Reaction.create",
}


def test_everything_is_told_as_linear_describes_it(
    linear: FakeLinear, ann: str
) -> None:
    everything(linear, ann)
    assert {f"{one.event}.{one.action}" for one in linear.deliveries} == EVERYTHING
    if described_bodies() is None:
        return
    assert list(wrong_deliveries(linear.world)) == []


def test_a_body_that_lacks_something_would_be_noticed(
    linear: FakeLinear, key: str
) -> None:
    if described_bodies() is None:
        return
    sent = linear.delivery("Issue", "create")
    del sent.facts["data"]["title"]
    sent.seal()
    words = "Issue create: $: 'title' is a required property"
    assert words in list(wrong_deliveries(linear.world))
    sent.facts["data"]["title"] = key
    sent.seal()
