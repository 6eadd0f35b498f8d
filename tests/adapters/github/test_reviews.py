"""The threads of a review are read whole, with where they are and how they stand."""

import pytest

from patchwright.core.types.errors import NotFoundError, ServiceUnavailableError
from patchwright.core.types.threads import DiffSide, ForgeThread, ThreadKind
from patchwright.integrations.github.adapter import GitHub
from patchwright.integrations.github.graphql import MAX_TRIES
from tests.adapters.github.conftest import SHOP, issue_ref
from tests.fakes.github.acts import reviews
from tests.fakes.github.acts.pulls import Proposal
from tests.fakes.github.acts.reviews import Spot
from tests.fakes.github.fake import FakeGitHub

REPO = "acme/shop"
BEFORE = "".join(f"{number}\n" for number in range(1, 21))
AFTER = BEFORE.replace("10\n", "ten\n")


@pytest.fixture
def pull(fake: FakeGitHub) -> ForgeThread:
    fake.add_user("bob")
    fake.commit_files(REPO, "trunk", {"n.txt": BEFORE})
    fake.commit_files(REPO, "fix", {"n.txt": AFTER}, author="ann")
    proposal = Proposal(title="Fix", head="fix", base="trunk")
    number = fake.open_pull_request(REPO, "ann", proposal)
    return ForgeThread(repo=SHOP, kind=ThreadKind.PULL_REQUEST, number=number)


def begin(fake: FakeGitHub, pull: ForgeThread, body: str, **spot: int | str) -> int:
    where = Spot(**{"path": "n.txt", "line": 10, **spot})  # type: ignore[arg-type] # fields by name
    return reviews.comment_on(
        fake.world, REPO, pull.number, author="bob", spot=where, body=body
    )


def test_s43_a_thread_has_its_place_its_code_and_all_comments(
    fake: FakeGitHub, as_app: GitHub, pull: ForgeThread
) -> None:
    thread = begin(fake, pull, "Why a word?", start_line=9)
    reviews.answer(fake.world, thread, author="ann", body="It reads better.")
    [found] = as_app.channel.fetch_thread(pull).reviews
    assert (found.path, found.first_line, found.line) == ("n.txt", 9, 10)
    assert found.id == f"PRRT_{thread}"
    assert found.side is DiffSide.NEW
    assert found.hunk == "@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10\n+ten"
    assert (found.is_resolved, found.is_outdated) == (False, False)
    assert [(post.author.login, post.text) for post in found.posts] == [
        ("bob", "Why a word?"),
        ("ann", "It reads better."),
    ]
    assert all(post.author.external_id.isdigit() for post in found.posts)


def test_s43_resolved_and_outdated_threads_are_marked(
    fake: FakeGitHub, as_app: GitHub, pull: ForgeThread
) -> None:
    reviews.resolve(fake.world, begin(fake, pull, "Settled"))
    begin(fake, pull, "Of the old line", side="LEFT")
    fake.commit_files(REPO, "fix", {"n.txt": BEFORE.replace("10\n", "TEN\n")})
    first, second = as_app.channel.fetch_thread(pull).reviews
    assert (first.is_resolved, first.is_outdated, first.line) == (True, True, 10)
    assert (second.is_resolved, second.is_outdated) == (False, False)
    assert second.side is DiffSide.OLD
    assert second.hunk.endswith(" 9\n-10")


def test_bots_lost_accounts_and_hidden_comments_are_told_apart(
    fake: FakeGitHub, as_app: GitHub, pull: ForgeThread
) -> None:
    fake.add_user("linter[bot]", bot=True)
    thread = begin(fake, pull, "Buy my pills")
    reviews.minimize(fake.world, thread, 0)
    reviews.answer(fake.world, thread, author="linter[bot]", body="Not a number")
    reviews.answer(fake.world, thread, author=None, body="I have left")
    [found] = as_app.channel.fetch_thread(pull).reviews
    assert [(p.author.login, p.author.is_bot, p.text) for p in found.posts] == [
        ("linter[bot]", True, "Not a number"),
        ("ghost", False, "I have left"),
    ]


def test_every_page_of_threads_is_read(
    fake: FakeGitHub, as_app: GitHub, pull: ForgeThread
) -> None:
    for count in range(60):
        begin(fake, pull, f"Remark {count}")
    found = as_app.channel.fetch_thread(pull).reviews
    assert [thread.posts[0].text for thread in found] == [
        f"Remark {count}" for count in range(60)
    ]


def test_an_issue_is_not_asked_for_reviews(fake: FakeGitHub, as_app: GitHub) -> None:
    number = fake.open_issue(REPO, "ann", "Wrong sum", "It is off by one.")
    assert as_app.channel.fetch_thread(issue_ref(number)).reviews == ()
    assert len([seen for seen in fake.requests if "graphql" in seen.path]) == 1


def test_reviews_are_asked_for_again_when_github_fails(
    fake: FakeGitHub, as_app: GitHub, pull: ForgeThread
) -> None:
    begin(fake, pull, "Why?")
    fake.fail_next("POST", r"/graphql$", 502, times=MAX_TRIES - 1)
    assert len(as_app.channel.fetch_thread(pull).reviews) == 1
    fake.fail_next("POST", r"/graphql$", 502, times=MAX_TRIES)
    with pytest.raises(ServiceUnavailableError, match="502"):
        as_app.channel.fetch_thread(pull)


def test_a_pull_request_that_is_none_is_not_found(
    fake: FakeGitHub, as_app: GitHub
) -> None:
    number = fake.open_issue(REPO, "ann", "Wrong sum", "")
    ref = ForgeThread(repo=SHOP, kind=ThreadKind.PULL_REQUEST, number=number)
    with pytest.raises(NotFoundError):
        as_app.channel.fetch_thread(ref)


def test_a_long_thread_has_its_newest_words_and_its_first(
    fake: FakeGitHub, as_app: GitHub, pull: ForgeThread
) -> None:
    thread = begin(fake, pull, "Why a word?")
    for count in range(230):
        reviews.answer(fake.world, thread, author="ann", body=f"Answer {count}")
    [found] = as_app.channel.fetch_thread(pull).reviews
    assert len(found.posts) == 231
    assert found.posts[0].text == "Why a word?"
    assert found.posts[-1].text == "Answer 229"
    assert found.hunk.endswith("+ten")


def test_of_many_threads_the_newest_are_read(
    fake: FakeGitHub, as_app: GitHub, pull: ForgeThread
) -> None:
    for count in range(60):
        begin(fake, pull, f"Remark {count}")
    found = as_app.channel.fetch_thread(pull).reviews
    assert [one.posts[0].text for one in found] == [f"Remark {n}" for n in range(60)]
