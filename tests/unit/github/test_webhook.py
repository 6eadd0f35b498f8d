"""A delivery asks for something, or it says why it does not."""

import json
from datetime import UTC, datetime

import pytest

from patchwright.core.types.errors import PayloadError
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadKind
from patchwright.core.types.triggers import Ignored, ThreadClosed, Trigger, TriggerKind
from patchwright.integrations.github.webhooks.reader import read_delivery
from patchwright.integrations.github.webhooks.triggers import GitHubTriggerRules
from tests.unit.github.samples import (
    ANN,
    BO,
    LISTENING,
    bot,
    comment,
    delivery,
    issue,
    read_json,
    reason_of,
    trigger_of,
)

SHOP = RepoRef(forge="github", full_name="acme/shop")


def test_comment_with_a_mention_is_a_trigger() -> None:
    payload = comment("@patchwright fix it", installation={"id": 99})
    assert read_json("issue_comment", payload) == Trigger(
        key="github:acme/shop#7:comment:123",
        kind=TriggerKind.COMMENT_MENTION,
        actor=Actor(service="github", login="ann", external_id="11"),
        thread=ForgeThread(repo=SHOP, kind=ThreadKind.ISSUE, number=7),
        request="fix it",
        title="Wrong sum",
        body="Off by one.",
        text="@patchwright fix it",
        post_id="123",
        installation="99",
        at=datetime(2030, 1, 1, 12, tzinfo=UTC),
    )


def test_s01_mention_counts_anywhere_in_the_sentence() -> None:
    trigger = trigger_of(
        "issue_comment", comment("Could you have a look at this, @patchwright?")
    )
    assert trigger.request == "Could you have a look at this?"


@pytest.mark.parametrize("text", ["@patchwright-extra go", "mail@patchwright.test"])
def test_s01_other_handles_are_no_mention(text: str) -> None:
    assert trigger_of("issue_comment", comment(text)).kind is TriggerKind.REPLY


def test_s06_the_mention_is_configured_in_one_place() -> None:
    listening = LISTENING.replace(mention="@our-fixer")
    asked = json.dumps(comment("@our-fixer go")).encode()
    assert isinstance(read_delivery("issue_comment", asked, listening), Trigger)
    usual = json.dumps(comment("@patchwright go")).encode()
    reading = read_delivery("issue_comment", usual, listening)
    assert isinstance(reading, Trigger)
    assert reading.kind is TriggerKind.REPLY


@pytest.mark.parametrize("text", ["(@patchwright) check?", "cc:@Patchwright fix"])
def test_s02_punctuation_and_case_do_not_matter(text: str) -> None:
    assert trigger_of("issue_comment", comment(text)).request


def test_s03_quoted_mention_is_no_request() -> None:
    text = "> @patchwright fix the parser\n\nI think we should wait with this."
    assert trigger_of("issue_comment", comment(text)).kind is TriggerKind.REPLY


def test_comment_on_a_pull_request_belongs_to_the_pull_request() -> None:
    on_pull = comment("@patchwright go", issue=issue(pull_request={"url": "x"}))
    thread = trigger_of("issue_comment", on_pull).thread
    assert thread.kind is ThreadKind.PULL_REQUEST


def test_comment_in_a_discussion_is_named_as_graphql_names_it() -> None:
    written = {"id": 5, "node_id": "DC_5", "body": "@patchwright why?", "user": ANN}
    trigger = trigger_of(
        "discussion_comment",
        delivery("created", comment=written, discussion=issue()),
    )
    assert (trigger.key, trigger.post_id, trigger.thread.kind) == (
        "github:acme/shop#7:comment:5",
        "DC_5",
        ThreadKind.DISCUSSION,
    )


def test_s07_new_comment_without_a_mention_is_a_reply() -> None:
    reply = trigger_of("issue_comment", comment("I agree with the bot"))
    assert (reply.kind, reply.key, reply.request, reply.post_id) == (
        TriggerKind.REPLY,
        "github:acme/shop#7:reply:123",
        "I agree with the bot",
        "123",
    )


@pytest.mark.parametrize("text", ["", " \n", None])
def test_s07_comment_without_words_asks_nothing(text: str | None) -> None:
    assert reason_of("issue_comment", comment(text)) == "no-mention"


def test_s07_edit_that_adds_no_mention_is_no_reply() -> None:
    edited = comment("Euro cents", "edited", changes={"body": {"from": "Cents"}})
    assert reason_of("issue_comment", edited) == "no-mention"


def test_s08_own_comment_is_no_reply_whoever_we_are_there() -> None:
    ours = "**Needs you**\n\n<!-- patchwright:state=waiting run=1 -->"
    assert reason_of("issue_comment", comment(ours)) == "own-text"


def test_s05_missing_and_null_fields_are_normal() -> None:
    bare = {"number": 7, "body": None, "user": None, "labels": None}
    trigger = trigger_of("issue_comment", comment("@patchwright go", issue=bare))
    assert (trigger.title, trigger.body) == ("", "")
    assert reason_of("issue_comment", comment(None)) == "no-mention"
    assert reason_of("issues", delivery("opened", issue=bare)) == "no-mention"
    assert reason_of("issues", delivery("labeled")) == "other-label"


@pytest.mark.parametrize(
    ("event", "action"),
    [("issues", "opened"), ("pull_request", "opened"), ("discussion", "created")],
)
def test_mention_in_the_body_is_a_trigger(event: str, action: str) -> None:
    thread = issue(body="Off by one. @patchwright fix it")
    payload = delivery(action, issue=thread, pull_request=thread, discussion=thread)
    trigger = trigger_of(event, payload)
    assert (trigger.key, trigger.kind, trigger.request) == (
        "github:acme/shop#7:body",
        TriggerKind.BODY_MENTION,
        "fix it",
    )


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ("issues", ThreadKind.ISSUE),
        ("pull_request", ThreadKind.PULL_REQUEST),
        ("discussion", ThreadKind.DISCUSSION),
    ],
)
def test_s04_label_is_a_trigger_on_every_kind_of_thread(
    event: str, kind: ThreadKind
) -> None:
    payload = delivery(
        "labeled",
        label={"name": "fix-me"},
        sender=BO,
        pull_request=issue(),
        discussion=issue(),
    )
    trigger = trigger_of(event, payload)
    assert (trigger.kind, trigger.thread.kind) == (TriggerKind.LABEL, kind)
    assert trigger.actor.login == "bo"
    assert trigger.key == "github:acme/shop#7:label:2030-01-01T12:00:00Z"


def test_label_set_again_later_is_another_request() -> None:
    label = {"name": "fix-me"}
    first = trigger_of("issues", delivery("labeled", label=label))
    later = issue(updated_at="2030-01-01T13:00:00Z")
    second = trigger_of("issues", delivery("labeled", label=label, issue=later))
    assert first.key != second.key


@pytest.mark.parametrize("event", ["issues", "pull_request"])
def test_assignment_to_us_is_a_trigger(event: str) -> None:
    payload = delivery(
        "assigned", assignee=bot("Patchwright[bot]"), sender=BO, pull_request=issue()
    )
    trigger = trigger_of(event, payload)
    assert (trigger.kind, trigger.actor.login, trigger.key) == (
        TriggerKind.ASSIGNMENT,
        "bo",
        "github:acme/shop#7:assignment:2030-01-01T12:00:00Z",
    )
    assert trigger_of(event, payload).key == trigger.key


def test_assigned_anew_later_asks_again() -> None:
    ours = bot("patchwright[bot]")
    first = trigger_of("issues", delivery("assigned", assignee=ours))
    later = issue(updated_at="2030-01-01T13:00:00Z")
    second = trigger_of("issues", delivery("assigned", assignee=ours, issue=later))
    assert first.key != second.key


@pytest.mark.parametrize("assignee", [ANN, None])
def test_assignment_of_others_is_ignored(assignee: object) -> None:
    payload = delivery("assigned", assignee=assignee)
    assert reason_of("issues", payload) == "other-assignee"


@pytest.mark.parametrize("action", ["closed", "reopened"])
@pytest.mark.parametrize("event", ["issues", "pull_request", "discussion"])
def test_closed_and_reopened_threads_are_told(event: str, action: str) -> None:
    payload = delivery(action, pull_request=issue(), discussion=issue())
    reading = read_json(event, payload)
    assert isinstance(reading, ThreadClosed)
    assert reading.thread.number == 7
    assert reading.is_open is (action == "reopened")
    assert reading.at == datetime(2030, 1, 1, 12, tzinfo=UTC)


def test_other_label_is_ignored() -> None:
    payload = delivery("labeled", label={"name": "bug"})
    assert reason_of("issues", payload) == "other-label"


def test_no_label_configured_means_no_label_triggers() -> None:
    payload = delivery("labeled", label={"name": ""})
    body = json.dumps(payload).encode()
    assert read_delivery(
        "issues", body, GitHubTriggerRules(mention="@patchwright")
    ) == Ignored(reason="other-label")


def test_edit_that_newly_asks_triggers_once() -> None:
    edit = comment("@patchwright go", "edited", changes={"body": {"from": "Hm"}})
    first = trigger_of("issue_comment", edit)
    assert first.key.startswith("github:acme/shop#7:comment:123:edit:")
    assert trigger_of("issue_comment", edit).key == first.key


def test_edit_of_a_text_that_asked_before_is_ignored() -> None:
    edit = comment(
        "@patchwright go on", "edited", changes={"body": {"from": "@patchwright go"}}
    )
    assert reason_of("issue_comment", edit) == "no-new-mention"


def test_edit_of_the_title_is_ignored() -> None:
    payload = delivery(
        "edited",
        issue=issue(body="@patchwright go"),
        changes={"title": {"from": "Old"}},
    )
    assert reason_of("issues", payload) == "no-new-mention"


def moved_pull(sender: object = ANN, **fields: object) -> dict[str, object]:
    pull = issue(head={"sha": "b" * 40, "ref": "fix"}, **fields)
    return delivery("synchronize", pull_request=pull, sender=sender)


def test_a_push_to_a_pull_request_is_told_with_its_head() -> None:
    trigger = trigger_of("pull_request", moved_pull())
    assert trigger.kind is TriggerKind.PUSHED
    assert trigger.kind.is_automatic
    assert trigger.head_sha == "b" * 40
    assert trigger.thread.kind is ThreadKind.PULL_REQUEST


def test_the_same_head_again_later_is_another_push() -> None:
    first = trigger_of("pull_request", moved_pull())
    later = moved_pull(updated_at="2030-01-01T13:00:00Z")
    assert trigger_of("pull_request", moved_pull()).key == first.key
    assert trigger_of("pull_request", later).key != first.key


def test_our_own_push_is_no_news() -> None:
    pushed = moved_pull(bot("patchwright[bot]"))
    assert reason_of("pull_request", pushed) == "own-push"


@pytest.mark.parametrize(
    ("event", "action", "reason"),
    [
        ("ping", "", "event-not-read"),
        ("workflow_run", "completed", "event-not-read"),
        ("check_run", "completed", "event-not-read"),
        ("issues", "transferred", "action-not-read"),
        ("issue_comment", "deleted", "action-not-read"),
        ("pull_request", "locked", "action-not-read"),
    ],
)
def test_everything_else_is_ignored_by_name(
    event: str, action: str, reason: str
) -> None:
    payload = comment("@patchwright go", action, pull_request=issue())
    assert reason_of(event, payload) == reason


@pytest.mark.parametrize(
    "body",
    [b"", b"no json", b"[]", b"{}", b"\xff", b'{"action": "created"}', b"[" * 5000],
)
def test_malformed_body_is_a_payload_error(body: bytes) -> None:
    with pytest.raises(PayloadError, match="issue_comment delivery is malformed"):
        read_delivery("issue_comment", body, LISTENING)


@pytest.mark.parametrize(
    "name", ["acme/..", "acme/.", "acme/shop/x", "acme", "../shop", "a b/c", "é/shop"]
)
def test_repository_name_that_would_lead_elsewhere_is_refused(name: str) -> None:
    payload = comment("@patchwright go", repository={"full_name": name})
    with pytest.raises(PayloadError, match=r"repository\.full_name"):
        read_json("issue_comment", payload)


@pytest.mark.parametrize("name", ["acme/shop.js", "Acme-1/.github", "a_b/c-d_e"])
def test_usual_repository_names_are_taken(name: str) -> None:
    payload = comment("@patchwright go", repository={"full_name": name})
    assert trigger_of("issue_comment", payload).home.full_name == name
