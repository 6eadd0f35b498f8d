"""Review threads are answered once and settled; opinions and rivals are found."""

from pathlib import Path

import pytest
from graphql import build_schema, parse, validate

from patchwright.core.forge import CompetingPullRequest
from patchwright.core.types.errors import NotFoundError, PermissionDeniedError
from patchwright.core.types.threads import ForgeThread, ThreadKind
from patchwright.integrations.github import pull_metadata
from patchwright.integrations.github import reviews as review_answers
from patchwright.integrations.github.adapter import GitHub
from tests.adapters.github.conftest import SHOP, connect
from tests.fakes.github.acts import reviews
from tests.fakes.github.acts.pulls import Proposal
from tests.fakes.github.acts.reviews import Spot
from tests.fakes.github.fake import FakeGitHub

REPO = "acme/shop"
MARK = "<!-- mark -->"
DOCUMENTS = (
    review_answers.ADD_REPLY,
    review_answers.RESOLVE_THREAD,
    review_answers.REPLIES_QUERY,
    pull_metadata.LATEST_REVIEWS_QUERY,
    pull_metadata.COMPETING_PULL_REQUESTS_QUERY,
)


def open_pull(
    fake: FakeGitHub, branch: str, author: str = "ann", body: str = ""
) -> int:
    fake.add_user(author)
    fake.commit_files(REPO, branch, {"a.py": f"{branch}\n"}, author=author)
    proposal = Proposal(title=branch, head=branch, base="trunk", body=body)
    return fake.open_pull_request(REPO, author, proposal)


@pytest.fixture
def pull(fake: FakeGitHub) -> ForgeThread:
    fake.add_user("bob")
    number = open_pull(fake, "fix")
    return ForgeThread(repo=SHOP, kind=ThreadKind.PULL_REQUEST, number=number)


@pytest.fixture
def thread(fake: FakeGitHub, pull: ForgeThread) -> int:
    spot = Spot(path="a.py", line=1)
    return reviews.comment_on(
        fake.world, REPO, pull.number, author="bob", spot=spot, body="Why?"
    )


def test_s43_an_answer_is_in_its_thread_and_found_again(
    fake: FakeGitHub, as_app: GitHub, pull: ForgeThread, thread: int
) -> None:
    name = f"PRRT_{thread}"
    assert as_app.channel.find_review_answer(pull, name, MARK) is None
    post = as_app.channel.answer_review(pull, name, f"Because. {MARK}")
    assert as_app.channel.find_review_answer(pull, name, MARK) == post
    question, answer = fake.world.reviews[thread].comments
    assert (question.author, answer.author) == ("bob", "patchwright[bot]")
    assert answer.body == f"Because. {MARK}"


def test_a_mark_that_somebody_else_wrote_is_not_ours(
    fake: FakeGitHub, as_app: GitHub, as_user: GitHub, pull: ForgeThread, thread: int
) -> None:
    for author in ("bob", None):
        reviews.answer(fake.world, thread, author=author, body=MARK)
    for github in (as_app, as_user):
        name = f"PRRT_{thread}"
        assert github.channel.find_review_answer(pull, name, MARK) is None


def test_an_answer_is_found_behind_a_hundred_others(
    fake: FakeGitHub, as_user: GitHub, pull: ForgeThread, thread: int
) -> None:
    for number in range(120):
        reviews.answer(fake.world, thread, author="bob", body=f"{number}")
    name = f"PRRT_{thread}"
    post = as_user.channel.answer_review(pull, name, MARK)
    assert as_user.channel.find_review_answer(pull, name, MARK) == post


def test_a_thread_is_settled(
    fake: FakeGitHub, as_app: GitHub, pull: ForgeThread, thread: int
) -> None:
    as_app.channel.resolve_review(pull, f"PRRT_{thread}")
    assert fake.world.reviews[thread].is_resolved


def test_a_thread_that_is_gone_and_one_that_is_not_ours_to_settle(
    fake: FakeGitHub, as_app: GitHub, pull: ForgeThread, thread: int
) -> None:
    with pytest.raises(NotFoundError):
        as_app.channel.answer_review(pull, "PRRT_0", "Because.")
    reader = connect(fake, fake.add_user("eve"))
    with pytest.raises(PermissionDeniedError):
        reader.channel.resolve_review(pull, f"PRRT_{thread}")
    reader.close()


def test_who_asked_for_changes_last_objects(
    fake: FakeGitHub, as_app: GitHub, pull: ForgeThread
) -> None:
    fake.add_user("linter[bot]", bot=True)
    said = (
        ("bob", "CHANGES_REQUESTED"),
        ("cleo", "CHANGES_REQUESTED"),
        ("linter[bot]", "CHANGES_REQUESTED"),
        ("cleo", "APPROVED"),
        ("bob", "COMMENTED"),
    )
    fake.add_user("cleo")
    for author, state in said:
        reviews.submit_review(
            fake.world, REPO, pull.number, author=author, state=state, body="Hm."
        )
    assert as_app.forge.fetch_change_requesters(SHOP, pull.number) == ("bob",)


def test_s35_pull_requests_of_others_that_close_an_issue_are_found(
    fake: FakeGitHub, as_app: GitHub
) -> None:
    fake.add_user("bob")
    fake.add_user("linter[bot]", bot=True)
    issue = fake.open_issue(REPO, "ann", "Wrong sum", "")
    open_pull(fake, "other", body=f"See #{issue}")
    open_pull(fake, "bot", author="linter[bot]", body=f"Fixes #{issue}")
    closed = open_pull(fake, "closed", body=f"Fixes #{issue}")
    fake.close_issue(REPO, closed, "ann")
    found = open_pull(fake, "fix", author="bob", body=f"Fixes #{issue}")
    url = f"{fake.web_url}/acme/shop/pull/{found}"
    competing_pull = CompetingPullRequest(number=found, url=url, author="bob")
    assert as_app.forge.fetch_competing_pulls(SHOP, issue) == (competing_pull,)


def test_s35_the_bots_own_pull_request_does_not_compete(
    fake: FakeGitHub, as_user: GitHub
) -> None:
    issue = fake.open_issue(REPO, "ann", "Wrong sum", "")
    open_pull(fake, "fix", author="robot", body=f"Closes #{issue}")
    assert as_user.forge.fetch_competing_pulls(SHOP, issue) == ()


def test_what_is_asked_is_githubs_graphql(corpus: Path | None) -> None:
    if corpus is None:
        return
    schema = build_schema((corpus / "github" / "schema.graphql").read_text())
    problems = [validate(schema, parse(text)) for text in DOCUMENTS]
    assert problems == [[]] * len(DOCUMENTS)
