"""A thread is read as it was when the request was made."""

from datetime import UTC, datetime, timedelta

import pytest

from patchwright.core.types.people import Actor
from patchwright.core.types.threads import (
    ForgeThread,
    RepoRef,
    ReviewThread,
    Thread,
    ThreadKind,
    ThreadPost,
)
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.types.work import Limits
from patchwright.resolver.context.thread_history import (
    EDITED_TEXT,
    count_left_out,
    thread_as_requested,
)
from patchwright.resolver.messages.status import (
    MessageHeader,
    Progress,
    progress_comment,
)

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
LATER = NOON + timedelta(hours=1)
ISSUE = ForgeThread(
    repo=RepoRef(forge="github", full_name="acme/shop"),
    kind=ThreadKind.ISSUE,
    number=7,
)
ALICE = Actor(service="github", login="alice")


def post(
    minute: int, text: str, edited: int | None = None, name: str = ""
) -> ThreadPost:
    return ThreadPost(
        id=name or str(minute),
        author=ALICE,
        text=text,
        at=NOON + timedelta(minutes=minute),
        edited_at=None if edited is None else NOON + timedelta(minutes=edited),
    )


def thread(*posts: ThreadPost, title: str = "Wrong sum") -> Thread:
    return Thread(ref=ISSUE, title=title, url="https://example.com/7", posts=posts)


def trigger(**fields: str) -> Trigger:
    kind = TriggerKind.COMMENT_MENTION
    found = {"request": "fix it", **fields}
    return Trigger(key="k", kind=kind, actor=ALICE, thread=ISSUE, **found)


def texts(found: Thread) -> list[str]:
    return [one.text for one in found.posts]


def test_what_came_with_the_request_stays_whatever_became_of_it() -> None:
    now = thread(
        post(0, "EDITED body", edited=9),
        post(1, "first"),
        post(2, "EDITED comment", edited=9),
        post(3, "too late"),
        title="EDITED",
    )
    asked = trigger(
        title="Wrong sum", body="3 pieces.", text="@bot fix it", post_id="2"
    )
    then = thread_as_requested(now, asked, NOON + timedelta(minutes=2, seconds=1))
    assert then.title == "Wrong sum"
    assert texts(then) == ["3 pieces.", "first", "@bot fix it"]


def test_other_texts_that_were_edited_since_are_left_out_and_counted() -> None:
    now = thread(
        post(0, "3 pieces."),
        post(1, "as it was", edited=1),
        post(2, "turned", edited=8),
        post(3, "@bot fix it"),
    )
    then = thread_as_requested(now, trigger(text="@bot fix it", post_id="3"), LATER)
    assert texts(then) == ["3 pieces.", "as it was", EDITED_TEXT, "@bot fix it"]
    assert count_left_out(then) == 1


def test_an_edit_in_the_second_of_the_request_counts_as_later() -> None:
    now = thread(post(0, "3 pieces."), post(1, "turned", edited=2))
    asked_at = NOON + timedelta(minutes=2, milliseconds=700)
    assert texts(thread_as_requested(now, trigger(), asked_at)) == [
        "3 pieces.",
        EDITED_TEXT,
    ]


def test_an_opening_text_that_did_not_come_with_the_request_is_held_too() -> None:
    now = thread(post(0, "turned", edited=5))
    assert texts(thread_as_requested(now, trigger(), NOON + timedelta(minutes=4))) == [
        EDITED_TEXT
    ]
    assert texts(thread_as_requested(now, trigger(), LATER)) == ["turned"]


def test_without_a_comment_that_asked_the_moment_decides() -> None:
    now = thread(post(0, "3 pieces."), post(1, "before"), post(2, "after"))
    then = thread_as_requested(now, trigger(), NOON + timedelta(minutes=1))
    assert texts(then) == ["3 pieces.", "before"]


def test_who_edits_a_comment_so_that_it_asks_has_asked_then() -> None:
    now = thread(
        post(0, "3 pieces."),
        post(1, "@bot fix it", edited=5),
        post(3, "between"),
        post(6, "after"),
    )
    asked = trigger(text="@bot fix it", post_id="1")
    then = thread_as_requested(now, asked, NOON + timedelta(minutes=5, seconds=1))
    assert texts(then) == ["3 pieces.", "@bot fix it", "between"]


def test_an_edit_after_the_request_does_not_move_it() -> None:
    now = thread(
        post(0, "3 pieces."), post(1, "@bot fix it", edited=5), post(3, "after")
    )
    asked = trigger(text="@bot fix it", post_id="1")
    then = thread_as_requested(now, asked, NOON + timedelta(minutes=1, seconds=1))
    assert texts(then) == ["3 pieces.", "@bot fix it"]


def test_within_a_second_the_order_decides() -> None:
    now = thread(
        post(0, "3 pieces."),
        post(1, "before", name="a"),
        post(1, "@bot fix it", name="b"),
        post(1, "after", name="c"),
    )
    then = thread_as_requested(now, trigger(post_id="b"), LATER)
    assert texts(then) == ["3 pieces.", "before", "@bot fix it"]


def test_an_answer_in_a_discussion_may_stand_before_older_comments() -> None:
    now = thread(
        post(0, "3 pieces."),
        post(1, "first", name="a"),
        post(5, "@bot fix it", name="b"),
        post(6, "after", name="c"),
        post(2, "older, below", name="d"),
    )
    then = thread_as_requested(now, trigger(post_id="b"), LATER)
    assert texts(then) == ["3 pieces.", "first", "@bot fix it", "older, below"]


def test_what_a_run_says_while_it_works_is_not_shown_to_another() -> None:
    frame = MessageHeader(
        run_id="1" * 32,
        requester="alice",
        handle="@patchwright",
        model="m",
        limits=Limits(),
    )
    working = progress_comment(Progress(state="running"), frame)
    now = thread(post(0, "3 pieces."), post(1, working))
    assert texts(thread_as_requested(now, trigger(), LATER)) == ["3 pieces."]


def on_lines(*posts: ThreadPost) -> ReviewThread:
    return ReviewThread(path="cart.py", line=4, posts=posts)


def test_what_reviewers_said_or_changed_after_the_request_is_left_out() -> None:
    now = thread(post(0, "My change.")).replace(
        reviews=(
            on_lines(post(1, "before"), post(2, "turned", edited=9)),
            on_lines(post(5, "after")),
        )
    )
    then = thread_as_requested(now, trigger(), NOON + timedelta(minutes=3))
    assert [[p.text for p in one.posts] for one in then.reviews] == [
        ["before", EDITED_TEXT]
    ]
    assert count_left_out(then) == 1


@pytest.mark.parametrize("asked_minute", [2, 4])
def test_a_review_that_asks_by_one_comment_is_read_whole(asked_minute: int) -> None:
    """Its comments were begun before it was sent; our clock may be slow."""
    now = thread(post(0, "My change.")).replace(
        reviews=(
            on_lines(post(1, "first", name="review-comment:1")),
            on_lines(post(2, "EDITED", edited=9, name="review-comment:2")),
        )
    )
    asked = trigger(text="@bot and this", post_id="review-comment:2", review_id="5")
    then = thread_as_requested(now, asked, NOON + timedelta(minutes=asked_minute))
    assert [[p.text for p in one.posts] for one in then.reviews] == [
        ["first"],
        ["@bot and this"],
    ]
