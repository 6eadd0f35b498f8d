"""The fake announces what happens as a Jira of its flavour does."""

import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

import pytest

from patchwright.core.types.errors import InvalidRequestError, NotFoundError
from tests.adapters.jira.conftest import Scene

SECRET = "hook-secret"


def bodies(scene: Scene) -> list[tuple[str, dict[str, Any]]]:
    sent = scene.fake.deliveries
    return [(one.event, json.loads(one.body)) for one in sent]


@pytest.fixture(autouse=True)
def webhook(scene: Scene) -> None:
    scene.fake.add_webhook(SECRET)


def test_deliveries_are_signed_over_their_bytes(scene: Scene) -> None:
    scene.fake.comment(scene.key, scene.ann, "Grüße")
    delivery = scene.fake.delivery("comment_created")
    digest = hmac.new(SECRET.encode(), delivery.body, hashlib.sha256).hexdigest()
    assert delivery.headers["X-Hub-Signature"] == f"sha256={digest}"
    assert delivery.headers["X-Atlassian-Webhook-Identifier"] == delivery.id


def test_comment_comes_with_its_ticket_each_flavour_in_its_way(scene: Scene) -> None:
    mention = scene.fake.mention(scene.fake.bot)
    comment = scene.fake.comment(scene.key, scene.ann, f"{mention} fix it")
    told = bodies(scene)
    assert told[0][1]["comment"]["id"] == comment
    assert told[0][1]["comment"]["body"] == f"{mention} fix it"
    assert told[-1][1]["issue"]["key"] == scene.key
    events = [event for event, _ in told]
    if scene.fake.world.is_cloud:
        assert events == ["comment_created"]
        return
    assert events == ["comment_created", "jira:issue_updated"]
    assert "issue" not in told[0][1]
    assert told[1][1]["issue_event_type_name"] == "issue_commented"


def test_changes_come_with_what_was_before(scene: Scene) -> None:
    scene.fake.label(scene.key, scene.ann, "urgent")
    scene.fake.label(scene.key, scene.ann, "patchwright")
    scene.fake.assign(scene.key, scene.ann, scene.fake.bot)
    labels, assignment = [body for _, body in bodies(scene)][-2:]
    (item,) = labels["changelog"]["items"]
    assert (item["field"], item["fromString"]) == ("labels", "urgent")
    assert item["toString"] == "patchwright urgent"
    assert assignment["issue_event_type_name"] == "issue_assigned"
    assert assignment["changelog"]["items"][0]["to"] == scene.fake.bot


def test_new_ticket_is_told_with_its_labels(scene: Scene) -> None:
    scene.fake.create("APP", scene.ann, "New", labels=["patchwright"])
    event, body = bodies(scene)[-1]
    assert event == "jira:issue_created"
    assert body["issue"]["fields"]["labels"] == ["patchwright"]
    assert {item["field"] for item in body["changelog"]["items"]} == {
        "summary",
        "labels",
    }


def test_what_programs_do_is_told_too(scene: Scene) -> None:
    post = scene.channel.post(scene.ref, "**Done**")
    body = json.loads(scene.fake.delivery("comment_created").body)
    assert (body["comment"]["id"], body["comment"]["body"]) == (post, "*Done*")


def test_silent_site_tells_nothing(scene: Scene) -> None:
    scene.fake.silence()
    scene.fake.comment(scene.key, scene.ann, "Quiet")
    assert scene.fake.deliveries == []


def test_person_who_may_not_write_is_refused(scene: Scene) -> None:
    scene.fake.forbid("APP", scene.fake.bot)
    with pytest.raises(InvalidRequestError, match="do not have the permission"):
        scene.channel.post(scene.ref, "Done")


def test_project_of_others_is_not_there(scene: Scene) -> None:
    scene.fake.forbid("APP", scene.fake.bot, reading=True)
    with pytest.raises(NotFoundError):
        scene.channel.fetch_opening(scene.ref)


def test_mention_of_nobody_is_refused(scene: Scene) -> None:
    with pytest.raises(InvalidRequestError, match="no user"):
        scene.channel.post(scene.ref, "[@x](patchwright-call:nobody) look")


def test_deliveries_have_what_recorded_ones_have(
    scene: Scene, corpus: Path | None
) -> None:
    """Of the recorded keys, those that all flavours of today still send."""
    if corpus is None:
        return
    flavour = "cloud" if scene.fake.world.is_cloud else "server"
    recorded = corpus / "jira" / "webhooks" / flavour / "comment-created.json"
    expected = json.loads(recorded.read_bytes())
    scene.fake.comment(scene.key, scene.ann, "Words")
    _, told = bodies(scene)[0]
    assert expected.keys() <= told.keys()
    assert expected["comment"].keys() <= told["comment"].keys()
