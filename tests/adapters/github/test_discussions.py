"""Discussions are read and answered like other threads."""

import pytest

from patchwright.core.types.errors import NotFoundError
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, ThreadKind
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.integrations.github.adapter import GitHub
from tests.adapters.github.conftest import SHOP
from tests.fakes.github.acts.discussions import (
    discuss,
    edit_discussed,
    open_discussion,
)
from tests.fakes.github.discussion_state import Discussion
from tests.fakes.github.fake import FakeGitHub
from tests.fakes.github.state import Subject


@pytest.fixture
def talk(fake: FakeGitHub) -> Discussion:
    return open_discussion(
        fake.world, "acme/shop", author="ann", title="How?", body="Why so slow?"
    )


def ref_of(talk: Discussion) -> ForgeThread:
    return ForgeThread(repo=SHOP, kind=ThreadKind.DISCUSSION, number=talk.number)


def trigger_on(talk: Discussion, post_id: str = "") -> Trigger:
    return Trigger(
        key="k",
        kind=TriggerKind.COMMENT_MENTION,
        actor=Actor(service="github", login="ann"),
        thread=ref_of(talk),
        request="fix it",
        post_id=post_id,
    )


def test_answers_stand_below_what_they_answer(
    fake: FakeGitHub, as_user: GitHub, talk: Discussion
) -> None:
    first = discuss(fake.world, talk.id, author="ann", body="First")
    discuss(fake.world, talk.id, author="ann", body="Second")
    answer = discuss(
        fake.world, talk.id, author="ann", body="To the first", parent_id=first.id
    )
    edit_discussed(fake.world, answer.id, actor="ann", body="To the first!")
    thread = as_user.channel.fetch_thread(ref_of(talk))
    assert [post.text for post in thread.posts] == [
        "Why so slow?",
        "First",
        "To the first!",
        "Second",
    ]
    assert thread.title == "How?"
    assert thread.url == f"{fake.web_url}/acme/shop/discussions/{talk.number}"
    assert thread.posts[2].id == f"DC_{answer.id}"
    assert [p.edited_at is not None for p in thread.posts] == [False] * 2 + [
        True,
        False,
    ]


def test_every_page_is_read(
    fake: FakeGitHub, as_user: GitHub, talk: Discussion
) -> None:
    for count in range(120):
        discuss(fake.world, talk.id, author="ann", body=f"Comment {count}")
    posts = as_user.channel.fetch_thread(ref_of(talk)).posts
    assert [post.text for post in posts[1:]] == [f"Comment {n}" for n in range(120)]


def test_our_own_comment_is_written_found_and_edited(
    fake: FakeGitHub, as_user: GitHub, talk: Discussion
) -> None:
    channel, ref = as_user.channel, ref_of(talk)
    discuss(fake.world, talk.id, author="ann", body="I quote <!-- run=1 -->")
    assert channel.find_post(ref, "run=1") is None
    post = channel.post(ref, "Working <!-- run=1 -->")
    assert channel.find_post(ref, "run=1") == post
    channel.edit(ref, post, "Done <!-- run=1 -->")
    [ours] = [c for c in fake.world.discussed.values() if c.author == "robot"]
    assert ours.body == "Done <!-- run=1 -->"


def test_what_asked_gets_the_reaction(
    fake: FakeGitHub, as_user: GitHub, talk: Discussion
) -> None:
    comment = discuss(fake.world, talk.id, author="ann", body="@patchwright fix it")
    as_user.channel.acknowledge(trigger_on(talk, f"DC_{comment.id}"))
    as_user.channel.decline(trigger_on(talk))
    on_comment = Subject(repo="acme/shop", number=talk.number, comment_id=comment.id)
    on_thread = Subject(repo="acme/shop", number=talk.number)
    assert [r.content for r in fake.world.reactions_on(on_comment)] == ["eyes"]
    assert [r.content for r in fake.world.reactions_on(on_thread)] == ["-1"]


def test_a_discussion_that_is_none_is_not_found(
    fake: FakeGitHub, as_user: GitHub, talk: Discussion
) -> None:
    number = fake.open_issue("acme/shop", "ann", "Wrong sum", "")
    missing = ref_of(talk).replace(number=number)
    with pytest.raises(NotFoundError):
        as_user.channel.fetch_thread(missing)
