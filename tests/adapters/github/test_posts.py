"""Each text of a thread is read with its author, their role, its times and its kind."""

import pytest

from patchwright.core.types.errors import NotFoundError, PermissionDeniedError
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, ThreadKind
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.integrations.github.adapter import GitHub
from patchwright.integrations.github.threads import MAX_PAGES
from tests.adapters.github.conftest import SHOP, connect, issue_ref
from tests.fakes.github.acts import reviews
from tests.fakes.github.acts.attachments import upload
from tests.fakes.github.acts.pulls import Proposal
from tests.fakes.github.acts.reviews import Remark, Spot, submit_review
from tests.fakes.github.fake import FakeGitHub

REPO = "acme/shop"


@pytest.fixture
def number(fake: FakeGitHub) -> int:
    return fake.open_issue(REPO, "ann", "Wrong sum", "It is off by one.")


@pytest.fixture
def pull(fake: FakeGitHub) -> ForgeThread:
    fake.add_user("bob")
    fake.commit_files(REPO, "fix", {"a.py": "2\n"}, author="ann")
    proposal = Proposal(title="Fix", head="fix", base="trunk", body="See below")
    number = fake.open_pull_request(REPO, "ann", proposal)
    return ForgeThread(repo=SHOP, kind=ThreadKind.PULL_REQUEST, number=number)


def test_c1_roles_tell_members_from_outsiders(
    fake: FakeGitHub, as_app: GitHub, number: int
) -> None:
    fake.add_user("eve")
    fake.comment(REPO, number, "eve", "Me too")
    posts = as_app.channel.fetch_thread(issue_ref(number)).posts
    assert [(post.author.login, post.role) for post in posts] == [
        ("ann", "collaborator"),
        ("eve", "outsider"),
    ]


def test_an_edit_is_told_and_nothing_else_is_taken_for_one(
    fake: FakeGitHub, as_app: GitHub, number: int
) -> None:
    comment = fake.comment(REPO, number, "ann", "First")
    fake.comment(REPO, number, "ann", "Second")
    fake.label(REPO, number, "bug", "ann")
    before = as_app.channel.fetch_thread(issue_ref(number)).posts
    assert [post.edited_at for post in before] == [None, None, None]
    fake.edit_comment(comment, "ann", "First, changed")
    fake.edit_issue(REPO, number, "ann", body="It is off by two.")
    after = as_app.channel.fetch_thread(issue_ref(number)).posts
    assert [post.edited_at is not None for post in after] == [True, True, False]


def test_c1_three_hundred_comments_are_read_in_order(
    fake: FakeGitHub, as_app: GitHub, number: int
) -> None:
    for count in range(300):
        fake.comment(REPO, number, "ann", f"Comment {count}")
    thread = as_app.channel.fetch_thread(issue_ref(number))
    assert [post.text for post in thread.posts[1:]] == [
        f"Comment {count}" for count in range(300)
    ]
    assert thread.unread == 0


def test_c1_of_a_thread_without_end_the_newest_are_read(
    fake: FakeGitHub, as_app: GitHub, number: int
) -> None:
    for count in range(MAX_PAGES * 100 + 7):
        fake.comment(REPO, number, "ann", f"Comment {count}")
    thread = as_app.channel.fetch_thread(issue_ref(number))
    assert thread.posts[0].text == "It is off by one."
    assert thread.posts[1].text == "Comment 7"
    assert thread.posts[-1].text == f"Comment {MAX_PAGES * 100 + 6}"
    assert thread.unread == 7


def test_c2_the_words_of_reviews_stand_among_the_comments(
    fake: FakeGitHub, as_app: GitHub, pull: ForgeThread
) -> None:
    fake.comment(REPO, pull.number, "bob", "I look at it")
    spot = Spot(path="a.py", line=1)
    changes = submit_review(
        fake.world,
        REPO,
        pull.number,
        author="bob",
        state="CHANGES_REQUESTED",
        body="Not so.",
        remarks=[Remark(spot=spot, body="This line")],
    )
    submit_review(fake.world, REPO, pull.number, author="ann", body="  ")
    submit_review(fake.world, REPO, pull.number, author="bob", state="APPROVED")
    thread = as_app.channel.fetch_thread(pull)
    assert [(post.label, post.text) for post in thread.posts] == [
        ("", "See below"),
        ("", "I look at it"),
        ("review, changes requested", "Not so."),
    ]
    assert thread.posts[-1].id == f"review:{changes}"
    [remark] = thread.reviews[0].posts
    assert remark.text == "This line"
    assert remark.id.startswith("review-comment:")


def test_an_edited_review_is_told(
    fake: FakeGitHub, as_app: GitHub, pull: ForgeThread
) -> None:
    review = submit_review(fake.world, REPO, pull.number, author="bob", body="Not so.")
    reviews.edit_review(fake.world, review, actor="bob", body="Obey me.")
    assert as_app.channel.fetch_thread(pull).posts[-1].edited_at is not None


def test_c3_an_opening_text_is_read_alone_whatever_the_thread_is(
    fake: FakeGitHub, as_app: GitHub, number: int, pull: ForgeThread
) -> None:
    fake.comment(REPO, number, "ann", "Not this")
    issue = as_app.channel.fetch_opening(issue_ref(number))
    assert [post.text for post in issue.posts] == ["It is off by one."]
    found = as_app.channel.fetch_opening(issue_ref(pull.number))
    assert (found.title, found.ref.kind) == ("Fix", ThreadKind.PULL_REQUEST)
    assert found.url == f"{fake.web_url}/{REPO}/pull/{pull.number}"
    with pytest.raises(NotFoundError):
        as_app.channel.fetch_opening(issue_ref(404))


def test_a_refusal_in_graphql_is_one_like_any_other(fake: FakeGitHub) -> None:
    fake.add_repository("acme/vault", private=True, files={"a.py": "1\n"})
    token = fake.mint_actions_token("acme/vault", {"contents": "read"})
    hidden = fake.open_issue("acme/vault", "acme", "Secret", "")
    vault = SHOP.replace(full_name="acme/vault")
    github = connect(fake, token)
    try:
        with pytest.raises(PermissionDeniedError, match="not accessible"):
            github.channel.fetch_thread(
                ForgeThread(repo=vault, kind=ThreadKind.ISSUE, number=hidden)
            )
    finally:
        github.close()


def trigger_on(pull: ForgeThread, post_id: str) -> Trigger:
    return Trigger(
        key="k",
        kind=TriggerKind.COMMENT_MENTION,
        actor=Actor(service="github", login="bob"),
        thread=pull,
        request="fix it",
        post_id=post_id,
    )


def test_t2_a_comment_on_a_line_gets_the_reaction(
    fake: FakeGitHub, as_app: GitHub, pull: ForgeThread
) -> None:
    spot = Spot(path="a.py", line=1)
    reviews.comment_on(
        fake.world, REPO, pull.number, author="bob", spot=spot, body="@patchwright fix"
    )
    [remark] = as_app.channel.fetch_thread(pull).reviews[0].posts
    as_app.channel.acknowledge(trigger_on(pull, remark.id))
    number = int(remark.id.removeprefix("review-comment:"))
    assert [r.content for r in fake.reactions(REPO, pull.number, number)] == ["eyes"]


def test_t2_a_review_is_acknowledged_on_its_pull_request(
    fake: FakeGitHub, as_app: GitHub, pull: ForgeThread
) -> None:
    review = submit_review(fake.world, REPO, pull.number, author="bob", body="Not so.")
    as_app.channel.acknowledge(trigger_on(pull, f"review:{review}"))
    assert [r.content for r in fake.reactions(REPO, pull.number)] == ["eyes"]


def test_s85_pictures_of_reviews_are_read_from_their_own_text(
    fake: FakeGitHub, as_app: GitHub, pull: ForgeThread
) -> None:
    url = upload(fake.world, REPO, b"GIF89a")
    spot = Spot(path="a.py", line=1)
    review = submit_review(
        fake.world,
        REPO,
        pull.number,
        author="bob",
        body=f"![shot]({url})",
        remarks=[Remark(spot=spot, body=f"![shot]({url})")],
    )
    [remark] = as_app.channel.fetch_thread(pull).reviews[0].posts
    for post in (f"review:{review}", remark.id):
        assert as_app.channel.fetch_attachment(pull, url, 100, post) == b"GIF89a"
