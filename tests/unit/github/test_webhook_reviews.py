"""A submitted review is one request, whichever of its parts is heard of first."""

from typing import Any

import pytest

from patchwright.core.types.threads import ThreadKind
from patchwright.core.types.triggers import TriggerKind
from tests.unit.github.samples import (
    ANN,
    BO,
    bot,
    delivery,
    issue,
    reason_of,
    review,
    review_comment,
    trigger_of,
)

OURS = issue(user=bot("patchwright[bot]"))
KEY = "github:acme/shop#7:review:900"


def test_words_of_a_review_ask() -> None:
    trigger = trigger_of("pull_request_review", review("@patchwright see below"))
    assert (trigger.key, trigger.kind, trigger.thread.kind) == (
        KEY,
        TriggerKind.COMMENT_MENTION,
        ThreadKind.PULL_REQUEST,
    )
    assert (trigger.request, trigger.text, trigger.post_id, trigger.review_id) == (
        "see below",
        "@patchwright see below",
        "review:900",
        "900",
    )


def test_each_part_of_a_review_names_the_same_request() -> None:
    whole = trigger_of("pull_request_review", review("@patchwright see below"))
    part = trigger_of("pull_request_review_comment", review_comment("@patchwright do"))
    assert part.key == whole.key
    assert (part.review_id, part.post_id, part.text) == (
        "900",
        "review-comment:55",
        "@patchwright do",
    )


def test_comment_that_belongs_to_no_review_asks_for_itself() -> None:
    alone = {"id": 55, "body": "@patchwright do", "pull_request_review_id": None}
    trigger = trigger_of(
        "pull_request_review_comment", review_comment("", comment=alone)
    )
    assert trigger.key == "github:acme/shop#7:review-comment:55"
    assert trigger.review_id == ""


@pytest.mark.parametrize(
    ("event", "edit", "name"),
    [
        (
            "pull_request_review",
            review("@patchwright go", "edited", changes={"body": {"from": ""}}),
            "review:900:edit:",
        ),
        (
            "pull_request_review_comment",
            review_comment("@patchwright go", "edited", changes={"body": {"from": ""}}),
            "review-comment:55:edit:",
        ),
    ],
)
def test_edit_that_newly_asks_is_a_request_of_its_own(
    event: str, edit: dict[str, Any], name: str
) -> None:
    trigger = trigger_of(event, edit)
    assert trigger.key.startswith(f"github:acme/shop#7:{name}")
    assert trigger.review_id == "900"
    assert reason_of(event, edit | {"changes": {}}) == "no-new-mention"


def test_changes_that_are_wanted_of_our_own_work_may_ask() -> None:
    wanted = review("Too long.", state="changes_requested", pull_request=OURS)
    trigger = trigger_of("pull_request_review", wanted)
    assert (trigger.kind, trigger.request, trigger.review_id) == (
        TriggerKind.REVIEW,
        "Too long.",
        "900",
    )
    # Refused, it must not stand in the way of a mention in the same review.
    assert trigger.key != KEY


def test_changes_that_are_wanted_with_a_mention_are_a_mention() -> None:
    wanted = review("@patchwright go", state="changes_requested", pull_request=OURS)
    trigger = trigger_of("pull_request_review", wanted)
    assert (trigger.kind, trigger.key) == (TriggerKind.COMMENT_MENTION, KEY)


@pytest.mark.parametrize(
    "payload",
    [
        review(None, pull_request=OURS),
        review("x", "edited", state="changes_requested", pull_request=OURS),
    ],
)
def test_other_reviews_without_a_mention_ask_nothing(payload: dict[str, Any]) -> None:
    assert reason_of("pull_request_review", payload) == "no-mention"


@pytest.mark.parametrize(
    "payload",
    [
        review("Too long.", state="changes_requested"),
        review("Too long.", state="changes_requested", pull_request=issue(user=None)),
        review("Fine.", state="approved", pull_request=OURS),
    ],
)
def test_words_of_other_reviews_are_a_reply(payload: dict[str, Any]) -> None:
    reply = trigger_of("pull_request_review", payload)
    assert (reply.kind, reply.key) == (
        TriggerKind.REPLY,
        "github:acme/shop#7:reply:review:900",
    )


def test_comment_on_lines_without_a_mention_is_a_reply() -> None:
    reply = trigger_of("pull_request_review_comment", review_comment("In cents."))
    assert (reply.kind, reply.key, reply.post_id) == (
        TriggerKind.REPLY,
        "github:acme/shop#7:reply:review-comment:55",
        "review-comment:55",
    )


def test_s08_own_review_never_triggers() -> None:
    ours = bot("patchwright[bot]")
    mention = review("Say @patchwright retry", sender=ours)
    assert reason_of("pull_request_review", mention) == "own-text"
    verdict = review("No.", state="changes_requested", pull_request=OURS, sender=ours)
    assert reason_of("pull_request_review", verdict) == "own-text"


def test_s11_the_reviewers_permission_counts_not_the_authors() -> None:
    payload = review("@patchwright go", pull_request=issue(user=BO))
    trigger = trigger_of("pull_request_review", payload)
    assert (trigger.actor.login, trigger.others) == ("ann", ())


@pytest.mark.parametrize(
    ("event", "action"),
    [
        ("pull_request_review", "dismissed"),
        ("pull_request_review_comment", "deleted"),
        ("discussion_comment", "deleted"),
    ],
)
def test_other_actions_are_ignored(event: str, action: str) -> None:
    written = {"id": 1, "body": "@patchwright go", "user": ANN}
    payload = delivery(
        action,
        review=written,
        comment=written,
        pull_request=issue(),
        discussion=issue(),
    )
    assert reason_of(event, payload) == "action-not-read"
