"""The gate of the workflow lets in who may be asking, and nobody else.

What it keeps out is never heard of again, and what it lets in costs a job: it may let
in more than what asks, and never less.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.text.mentions import find_request
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.integrations.github.webhooks.reader import read_delivery
from patchwright.integrations.github.webhooks.triggers import GitHubTriggerRules
from tests.action.gates import group_of, lets_in
from tests.runner.expressions.values import Value

ALICE: Value = {"login": "alice", "type": "User"}
BOT: Value = {"login": "patchwright[bot]", "type": "Bot"}
ISSUE: Value = {"number": 7.0, "title": "Wrong sum", "body": "", "labels": []}
PULL: Value = {"number": 9.0, "title": "Mend it", "body": "", "labels": []}
WORDS = [
    "@patchwright",
    "fix",
    "`",
    "```\n",
    "> ",
    "@",
    "\n\n",
    "<b>",
    "\\",
    "[x](",
    ")",
]
# No workflow knows what an earlier one has proven or asked.
NO_REQUEST = {TriggerKind.PUSHED, TriggerKind.REPLY}


def event(action: str, sender: Value = ALICE, **parts: Value) -> Value:
    return {"action": action, "sender": sender, **parts}


def comment(text: str, sender: Value = ALICE, **issue: Value) -> Value:
    return event(
        "created",
        sender,
        issue={**ISSUE, **issue} if isinstance(ISSUE, dict) else None,
        comment={"id": 1.0, "body": text, "user": sender},
    )


def labeled(label: str, part: str, thread: Value) -> Value:
    return event("labeled", label={"name": label}, **{part: thread})


def test_a_comment_with_the_phrase_gets_in() -> None:
    assert lets_in("issue_comment", comment("@Patchwright fix this"))
    assert not lets_in("issue_comment", comment("please fix this"))


def test_s05_a_comment_on_a_pull_request_without_labels_gets_in() -> None:
    happened = comment(
        "@patchwright go", pull_request={"url": "…"}, labels=[], body=None
    )
    assert lets_in("issue_comment", happened)


def test_what_the_issue_says_does_not_count_for_a_comment() -> None:
    assert not lets_in("issue_comment", comment("thanks", body="@patchwright fix it"))


@pytest.mark.parametrize("name", ["issues", "pull_request", "pull_request_target"])
def test_s04_the_label_counts_on_issues_and_on_pull_requests(name: str) -> None:
    part = "issue" if name == "issues" else "pull_request"
    assert lets_in(name, labeled("patchwright", part, PULL))
    assert not lets_in(name, labeled("bug", part, PULL))
    assert lets_in(name, labeled("fix-me", part, PULL))
    assert not lets_in(name, labeled("fix-me", part, PULL), label="bot")
    assert lets_in(name, labeled("bot", part, PULL), label="bot")


def test_s06_a_configured_phrase_is_set_in_one_place() -> None:
    assert lets_in("issue_comment", comment("/exp do it"), mention="/exp")
    assert not lets_in("issue_comment", comment("/exp do it"))
    assert lets_in("issue_comment", comment("/exp do it"), trigger_phrase="/exp")
    assert not lets_in("issue_comment", comment("@patchwright"), trigger_phrase="/exp")


@pytest.mark.parametrize("part", ["issue", "pull_request", "discussion"])
def test_a_new_thread_with_the_phrase_gets_in(part: str) -> None:
    thread: Value = {"number": 7.0, "title": "x", "body": "Hello @patchwright"}
    assert lets_in("issues", event("opened", **{part: thread}))
    assert not lets_in("issues", event("closed", **{part: thread}))


def test_a_review_gets_in_by_its_own_words_or_those_of_its_comments() -> None:
    review: Value = {"id": 1.0, "body": "@patchwright see below", "state": "commented"}
    happened = event("submitted", pull_request=PULL, review=review)
    assert lets_in("pull_request_review", happened)
    silent: Value = {"id": 1.0, "body": None, "state": "commented"}
    silent_event = event("submitted", pull_request=PULL, review=silent)
    assert not lets_in("pull_request_review", silent_event)
    line: Value = {"id": 2.0, "body": "@patchwright rename this"}
    in_line = event("created", pull_request=PULL, comment=line)
    assert lets_in("pull_request_review_comment", in_line)


def test_changes_requested_of_our_own_pull_request_get_in() -> None:
    review: Value = {"id": 1.0, "body": None, "state": "changes_requested"}
    ours: Value = {"number": 9.0, "body": "<!-- patchwright:body text=1 title=2 -->\nx"}
    happened = event("submitted", pull_request=ours, review=review)
    assert lets_in("pull_request_review", happened)
    theirs = event("submitted", pull_request=PULL, review=review)
    assert not lets_in("pull_request_review", theirs)


def test_an_assignment_gets_in_where_assigning_asks() -> None:
    happened = event("assigned", issue=ISSUE, assignee={"login": "Helper"})
    assert lets_in("issues", happened, assignee="helper")
    assert not lets_in("issues", happened, assignee="other")


def test_a_bot_gets_in_by_name_alone() -> None:
    happened = comment("@patchwright go", BOT)
    assert not lets_in("issue_comment", happened)
    assert lets_in(
        "issue_comment", happened, allow_bots="dependabot[bot], patchwright[bot]"
    )


def test_our_own_comments_stay_out_whoever_signs_them() -> None:
    """With a person's token we are no bot to GitHub."""
    ours = "@alice: done. Say `@patchwright retry`.\n<!-- patchwright:ping run=1 -->"
    assert not lets_in("issue_comment", comment(ours))


@pytest.mark.parametrize(
    ("name", "happened"),
    [
        ("workflow_dispatch", {"inputs": {"issue-number": "7"}, "sender": BOT}),
        ("repository_dispatch", {"client_payload": {"task": "x"}, "sender": BOT}),
        ("schedule", {"schedule": "0 5 * * 1"}),
    ],
)
def test_what_is_of_no_thread_gets_in(name: str, happened: Value) -> None:
    assert lets_in(name, happened)


def test_a_caller_may_choose_the_issue_itself() -> None:
    assert lets_in("issues", event("opened", issue=ISSUE), issue_number="7")


@given(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join))
def test_every_text_that_asks_gets_in(text: str) -> None:
    if find_request(text, "@patchwright") is not None:
        assert lets_in("issue_comment", comment(text))


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_phrase_gets_in_between_any_two_texts(before: str, after: str) -> None:
    text = f"{before} @PATCHWRIGHT {after}"
    if "<!-- patchwright:" not in text.lower():
        assert lets_in("issue_comment", comment(text))


def test_every_delivery_from_outside_that_asks_gets_in(corpus: Path | None) -> None:
    """Each text of theirs is made one that asks, and each label ours."""
    kept_out = [
        file.name
        for file in sorted(corpus.glob("github/webhooks*/**/*.json") if corpus else ())
        for name, payload in [_made_to_ask(file)]
        if _asks(name, payload) and not lets_in(name, payload)
    ]
    assert kept_out == []


def _made_to_ask(file: Path) -> tuple[str, dict[str, Any]]:
    in_folders = file.parent.parent.name == "webhooks"
    name = file.parent.name if in_folders else file.name.partition(".")[0]
    payload = json.loads(file.read_bytes())
    for part in ("comment", "review", "issue", "pull_request", "discussion"):
        if isinstance(payload.get(part), dict):
            payload[part]["body"] = "@patchwright please"
    if isinstance(payload.get("label"), dict):
        payload["label"]["name"] = "patchwright"
    return name, payload


def _asks(name: str, payload: dict[str, Any]) -> bool:
    """Tell whether a job would carry it out."""
    listening = GitHubTriggerRules(mention="@patchwright", label="patchwright")
    reading = read_delivery(name, json.dumps(payload).encode(), listening)
    return (
        isinstance(reading, Trigger)
        and reading.kind not in NO_REQUEST
        and not reading.actor.is_bot
    )


def test_runs_of_one_branch_share_a_group_and_others_do_not() -> None:
    found: Value = {"gate": {"outputs": {"group": "thread-7"}, "result": "success"}}
    assert group_of(found) == "patchwright-thread-7"
    assert group_of({"gate": {"outputs": {}}}) == "patchwright-4711"
