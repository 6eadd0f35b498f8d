"""A delivery asks for something, or it says why it does not."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.errors import PayloadError
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import RepoRef, ThreadKind, ThreadRef
from patchwright.core.types.triggers import Ignored, Trigger, TriggerKind
from patchwright.integrations.github.webhook import Listening, read
from tests.unit.github.samples import (
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
        thread=ThreadRef(repo=SHOP, kind=ThreadKind.ISSUE, number=7),
        request="fix it",
        title="Wrong sum",
        body="Off by one.",
        text="@patchwright fix it",
        post_id="123",
        installation="99",
    )


def test_s01_mention_counts_anywhere_in_the_sentence() -> None:
    trigger = trigger_of(
        "issue_comment", comment("Could you have a look at this, @patchwright?")
    )
    assert trigger.request == "Could you have a look at this?"


@pytest.mark.parametrize("text", ["@patchwright-extra go", "mail@patchwright.test", ""])
def test_s01_other_handles_are_no_mention(text: str) -> None:
    assert reason_of("issue_comment", comment(text)) == "no-mention"


@pytest.mark.parametrize("text", ["(@patchwright) check?", "cc:@Patchwright fix"])
def test_s02_punctuation_and_case_do_not_matter(text: str) -> None:
    assert trigger_of("issue_comment", comment(text)).request


def test_s03_quoted_mention_is_no_request() -> None:
    text = "> @patchwright fix the parser\n\nI think we should wait with this."
    assert reason_of("issue_comment", comment(text)) == "no-mention"


def test_comment_on_a_pull_request_belongs_to_the_pull_request() -> None:
    on_pull = comment("@patchwright go", issue=issue(pull_request={"url": "x"}))
    thread = trigger_of("issue_comment", on_pull).thread
    assert thread.kind is ThreadKind.PULL_REQUEST


def test_s05_missing_and_null_fields_are_normal() -> None:
    bare = {"number": 7, "body": None, "user": None, "labels": None}
    trigger = trigger_of("issue_comment", comment("@patchwright go", issue=bare))
    assert (trigger.title, trigger.body) == ("", "")
    assert reason_of("issue_comment", comment(None)) == "no-mention"
    assert reason_of("issues", delivery("opened", issue=bare)) == "no-mention"
    assert reason_of("issues", delivery("labeled")) == "other-label"


@pytest.mark.parametrize("event", ["issues", "pull_request"])
def test_mention_in_the_body_is_a_trigger(event: str) -> None:
    thread = issue(body="Off by one. @patchwright fix it")
    payload = delivery("opened", issue=thread, pull_request=thread)
    trigger = trigger_of(event, payload)
    assert (trigger.key, trigger.kind, trigger.request) == (
        "github:acme/shop#7:body",
        TriggerKind.BODY_MENTION,
        "fix it",
    )


@pytest.mark.parametrize(
    ("event", "kind"),
    [("issues", ThreadKind.ISSUE), ("pull_request", ThreadKind.PULL_REQUEST)],
)
def test_s04_label_is_a_trigger_on_issues_and_pull_requests(
    event: str, kind: ThreadKind
) -> None:
    payload = delivery(
        "labeled", label={"name": "fix-me"}, sender=BO, pull_request=issue()
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


def test_other_label_is_ignored() -> None:
    payload = delivery("labeled", label={"name": "bug"})
    assert reason_of("issues", payload) == "other-label"


def test_no_label_configured_means_no_label_triggers() -> None:
    payload = delivery("labeled", label={"name": ""})
    body = json.dumps(payload).encode()
    assert read("issues", body, Listening(mention="@patchwright")) == Ignored(
        reason="other-label"
    )


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


def test_s11_who_edits_the_mention_in_is_judged() -> None:
    edit = comment(
        "@patchwright go", "edited", changes={"body": {"from": None}}, sender=BO
    )
    assert trigger_of("issue_comment", edit).actor.login == "bo"


def test_s11_who_wrote_the_text_is_judged_not_who_moved_it() -> None:
    payload = delivery("opened", sender=BO, issue=issue(body="@patchwright go"))
    assert trigger_of("issues", payload).actor.login == "ann"


@pytest.mark.parametrize("sender", [bot("patchwright[bot]"), {"login": "Patchwright"}])
def test_s08_own_text_never_triggers(sender: dict[str, Any]) -> None:
    own = comment("Say @patchwright to retry", sender=sender)
    assert reason_of("issue_comment", own) == "own-text"


def test_s08_own_text_never_triggers_though_it_is_listed() -> None:
    listening = LISTENING.model_copy(update={"allow_bots": frozenset({"patchwright"})})
    own = comment("Say @patchwright", sender=bot("patchwright[bot]"))
    reading = read("issue_comment", json.dumps(own).encode(), listening)
    assert reading == Ignored(reason="own-text")


def test_s08_own_app_in_a_persons_name_never_triggers() -> None:
    written = {
        "id": 1,
        "body": "@patchwright go",
        "performed_via_github_app": {"slug": "patchwright"},
    }
    assert reason_of("issue_comment", comment("", comment=written)) == "own-text"


def test_s08_bot_that_is_not_named_never_triggers() -> None:
    payload = comment("@patchwright go", sender=bot("renovate[bot]"))
    assert reason_of("issue_comment", payload) == "bot"


def test_s08_persons_edit_of_a_bots_text_is_the_persons() -> None:
    written = {"id": 1, "body": "@patchwright go", "user": bot("renovate[bot]")}
    edit = comment(
        "", "edited", comment=written, changes={"body": {"from": "Hm"}}, sender=BO
    )
    assert trigger_of("issue_comment", edit).actor.login == "bo"


@pytest.mark.parametrize("named", ["dependabot", "dependabot[bot]", "Dependabot"])
def test_s10_named_bot_may_ask(named: str) -> None:
    listening = LISTENING.model_copy(update={"allow_bots": frozenset({named})})
    written = {"id": 1, "body": "@patchwright go", "user": bot("dependabot[bot]")}
    payload = comment("", comment=written, sender=bot("dependabot[bot]"))
    reading = read("issue_comment", json.dumps(payload).encode(), listening)
    assert isinstance(reading, Trigger)
    assert reading.actor.is_bot


@pytest.mark.parametrize(
    ("event", "action", "reason"),
    [
        ("push", "", "event-not-read"),
        ("ping", "", "event-not-read"),
        ("issues", "closed", "action-not-read"),
        ("issue_comment", "deleted", "action-not-read"),
        ("pull_request", "synchronize", "action-not-read"),
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
        read("issue_comment", body, LISTENING)


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
    assert trigger_of("issue_comment", payload).thread.repo.full_name == name


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(
    event=st.sampled_from(["issues", "issue_comment", "pull_request"]),
    action=st.sampled_from(["opened", "edited", "created", "labeled"]),
    field=st.sampled_from(["issue", "comment", "changes", "label", "sender"]),
    value=JSON,
)
def test_any_json_is_a_reading_or_a_payload_error(
    event: str, action: str, field: str, value: object
) -> None:
    payload = comment("@patchwright go", action, pull_request=issue())
    try:
        reading = read_json(event, payload | {field: value})
    except PayloadError:
        return
    assert isinstance(reading, Trigger | Ignored)


def test_every_outside_delivery_is_read(corpus: Path | None) -> None:
    folder = corpus / "github" if corpus else None
    index = json.loads((folder / "webhooks-index.json").read_text()) if folder else []
    for entry in index:
        body = (folder / entry["file"]).read_bytes() if folder else b""
        reading = read(entry["event"], body, LISTENING)
        assert isinstance(reading, Trigger | Ignored), entry["file"]


def test_outside_comment_that_mentions_us_is_a_trigger(corpus: Path | None) -> None:
    payload: dict[str, Any] = comment("x")
    if corpus:
        folder = corpus / "github" / "webhooks-derived"
        file = folder / "issue_comment.created.on-pull-request.json"
        payload = json.loads(file.read_text())
    payload["comment"]["body"] = "@patchwright please"
    assert trigger_of("issue_comment", payload).request == "please"
