"""Threads are read whole, and answered once."""

import pytest

from patchwright.core.types.errors import (
    NotFoundError,
    PermissionDeniedError,
    ServiceError,
    ServiceUnavailableError,
)
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, ThreadKind
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.integrations.github.adapter import GitHub
from tests.adapters.github.conftest import SHOP, connect, issue_ref
from tests.fakes.github.acts.pulls import Proposal
from tests.fakes.github.fake import FakeGitHub


@pytest.fixture
def number(fake: FakeGitHub) -> int:
    return fake.open_issue("acme/shop", "ann", "Wrong sum", "It is off by one.")


def trigger_on(ref: ForgeThread, post_id: str = "") -> Trigger:
    return Trigger(
        key="k",
        kind=TriggerKind.COMMENT_MENTION,
        actor=Actor(service="github", login="ann"),
        thread=ref,
        request="fix it",
        post_id=post_id,
    )


def test_comment_that_asked_gets_the_reaction(
    fake: FakeGitHub, as_app: GitHub, number: int
) -> None:
    comment = fake.comment("acme/shop", number, "ann", "@patchwright fix it")
    as_app.channel.acknowledge(trigger_on(issue_ref(number), str(comment)))
    as_app.channel.acknowledge(trigger_on(issue_ref(number), str(comment)))
    given = fake.reactions("acme/shop", number, comment)
    assert [(r.author, r.content) for r in given] == [("patchwright[bot]", "eyes")]


def test_thread_that_asked_by_its_body_gets_the_reaction(
    fake: FakeGitHub, as_app: GitHub, number: int
) -> None:
    as_app.channel.acknowledge(trigger_on(issue_ref(number)))
    given = fake.reactions("acme/shop", number)
    assert [reaction.content for reaction in given] == ["eyes"]


def test_thread_has_the_body_and_every_page_of_comments(
    fake: FakeGitHub, as_app: GitHub, number: int
) -> None:
    for count in range(105):
        fake.comment("acme/shop", number, "ann", f"Comment {count}")
    thread = as_app.channel.fetch_thread(issue_ref(number))
    expected = ["It is off by one.", *(f"Comment {count}" for count in range(105))]
    assert [post.text for post in thread.posts] == expected
    assert thread.title == "Wrong sum"
    assert thread.url == f"{fake.web_url}/acme/shop/issues/{number}"
    assert thread.unread == 0
    pages = [seen for seen in fake.requests if seen.path.endswith("/graphql")]
    assert len(pages) == 2


def test_author_is_told_apart_from_bots(
    fake: FakeGitHub, as_app: GitHub, number: int
) -> None:
    fake.add_user("linter[bot]", bot=True)
    fake.comment("acme/shop", number, "linter[bot]", "Found a flaw")
    opening, comment = as_app.channel.fetch_thread(issue_ref(number)).posts
    assert (opening.author.login, opening.author.is_bot) == ("ann", False)
    assert (comment.author.login, comment.author.is_bot) == ("linter[bot]", True)
    assert opening.author.external_id.isdigit()


def test_s05_empty_body_is_an_empty_text(fake: FakeGitHub, as_app: GitHub) -> None:
    token = fake.add_user("bo")
    with_null = connect(fake, token)
    number = fake.open_issue("acme/shop", "bo", "No body", "")
    assert with_null.channel.fetch_thread(issue_ref(number)).posts[0].text == ""
    assert as_app.channel.fetch_thread(issue_ref(number)).posts[0].text == ""
    with_null.close()


def test_pull_request_is_a_thread_too(fake: FakeGitHub, as_app: GitHub) -> None:
    fake.commit_files("acme/shop", "fix", {"a.py": "2\n"}, author="ann")
    proposal = Proposal(title="Fix", head="fix", base="trunk", body="See below")
    number = fake.open_pull_request("acme/shop", "ann", proposal)
    ref = ForgeThread(repo=SHOP, kind=ThreadKind.PULL_REQUEST, number=number)
    thread = as_app.channel.fetch_thread(ref)
    assert thread.url == f"{fake.web_url}/acme/shop/pull/{number}"
    assert thread.posts[0].text == "See below"


def test_s40_post_is_edited_in_place(
    fake: FakeGitHub, as_app: GitHub, number: int
) -> None:
    post = as_app.channel.post(issue_ref(number), "Working")
    as_app.channel.edit(issue_ref(number), post, "Done")
    assert [c.body for c in fake.comments("acme/shop", number)] == ["Done"]


def test_s45_marks_and_odd_signs_arrive_as_written(
    fake: FakeGitHub, as_app: GitHub, number: int
) -> None:
    text = "Done! `$(id)` 🚀\n\n<!-- patchwright:state=resolved run=1 -->"
    post = as_app.channel.post(issue_ref(number), text)
    assert fake.comments("acme/shop", number)[0].body == text
    assert as_app.channel.find_post(issue_ref(number), "run=1 -->") == post


def test_own_post_is_found_behind_a_hundred_others(
    fake: FakeGitHub, as_app: GitHub, number: int
) -> None:
    for count in range(100):
        fake.comment("acme/shop", number, "ann", f"Comment {count}")
    post = as_app.channel.post(issue_ref(number), "<!-- run=1 -->")
    assert as_app.channel.find_post(issue_ref(number), "run=1") == post


def test_mark_in_another_persons_comment_is_not_ours(
    fake: FakeGitHub, as_app: GitHub, number: int
) -> None:
    fake.comment("acme/shop", number, "ann", "I quote <!-- run=1 -->")
    assert as_app.channel.find_post(issue_ref(number), "run=1") is None


def test_missing_thread_is_not_found(as_app: GitHub) -> None:
    with pytest.raises(NotFoundError):
        as_app.channel.fetch_thread(issue_ref(404))


def test_comment_that_was_deleted_is_not_found(
    fake: FakeGitHub, as_app: GitHub, number: int
) -> None:
    post = as_app.channel.post(issue_ref(number), "Working")
    fake.delete_comment(int(post), "ann")
    with pytest.raises(NotFoundError):
        as_app.channel.edit(issue_ref(number), post, "Done")


def test_read_is_asked_again_when_github_fails(
    fake: FakeGitHub, as_app: GitHub, number: int
) -> None:
    fake.fail_next("POST", r"/graphql$", 502, times=2)
    assert as_app.channel.fetch_thread(issue_ref(number)).title == "Wrong sum"


def test_read_that_keeps_failing_is_a_service_that_does_not_answer(
    fake: FakeGitHub, as_app: GitHub, number: int
) -> None:
    fake.fail_next("POST", r"/graphql$", 500, times=9)
    with pytest.raises(ServiceUnavailableError, match="500"):
        as_app.channel.fetch_thread(issue_ref(number))


def test_write_is_never_repeated_by_itself(
    fake: FakeGitHub, as_app: GitHub, number: int
) -> None:
    fake.fail_next("POST", r"/comments$", 502)
    with pytest.raises(ServiceUnavailableError):
        as_app.channel.post(issue_ref(number), "Done")
    tried = [s for s in fake.requests if (s.method, s.status) == ("POST", 502)]
    assert len(tried) == 1
    assert fake.comments("acme/shop", number) == []


def test_token_that_may_not_write_is_denied(fake: FakeGitHub, number: int) -> None:
    token = fake.mint_actions_token("acme/shop", {"issues": "read"})
    github = connect(fake, token)
    try:
        with pytest.raises(PermissionDeniedError, match="Resource not accessible"):
            github.channel.post(issue_ref(number), "Done")
    finally:
        github.close()


def test_s33_a_wrong_field_is_named(as_app: GitHub, number: int) -> None:
    with pytest.raises(ServiceError, match="data: Body is too long"):
        as_app.channel.post(issue_ref(number), "x" * 70_000)


def test_our_post_is_found_behind_300_comments(
    fake: FakeGitHub, as_app: GitHub, number: int
) -> None:
    for place in range(299):
        fake.comment("acme/shop", number, "ann", f"Comment {place}")
    post = as_app.channel.post(issue_ref(number), "Queued <!-- run=1 -->")
    thread = as_app.channel.fetch_thread(issue_ref(number))
    assert [one.text for one in thread.posts[1:300]] == [
        f"Comment {place}" for place in range(299)
    ]
    assert as_app.channel.find_post(issue_ref(number), "run=1") == post
