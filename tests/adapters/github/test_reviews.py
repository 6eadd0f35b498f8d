"""The threads of a review are read whole, with where they are and how they stand."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from patchwright.core.errors import NotFoundError, ServiceUnavailableError
from patchwright.core.types.threads import DiffSide, ThreadKind, ThreadRef
from patchwright.integrations.github.adapter import GitHub
from patchwright.integrations.github.reviews import MAX_TRIES, QUERY
from tests.adapters.github.conftest import SHOP, issue_ref
from tests.fakes.github.acts import reviews
from tests.fakes.github.acts.pulls import Proposal
from tests.fakes.github.acts.reviews import Spot
from tests.fakes.github.fake import FakeGitHub

REPO = "acme/shop"
BEFORE = "".join(f"{number}\n" for number in range(1, 21))
AFTER = BEFORE.replace("10\n", "ten\n")


@pytest.fixture
def pull(fake: FakeGitHub) -> ThreadRef:
    fake.add_user("bob")
    fake.commit_files(REPO, "trunk", {"n.txt": BEFORE})
    fake.commit_files(REPO, "fix", {"n.txt": AFTER}, author="ann")
    proposal = Proposal(title="Fix", head="fix", base="trunk")
    number = fake.open_pull_request(REPO, "ann", proposal)
    return ThreadRef(repo=SHOP, kind=ThreadKind.PULL_REQUEST, number=number)


def begin(fake: FakeGitHub, pull: ThreadRef, body: str, **spot: int | str) -> int:
    where = Spot(**{"path": "n.txt", "line": 10, **spot})  # type: ignore[arg-type] # fields by name
    return reviews.comment_on(
        fake.world, REPO, pull.number, author="bob", spot=where, body=body
    )


def test_s43_a_thread_has_its_place_its_code_and_all_comments(
    fake: FakeGitHub, as_app: GitHub, pull: ThreadRef
) -> None:
    thread = begin(fake, pull, "Why a word?", start_line=9)
    reviews.answer(fake.world, thread, author="ann", body="It reads better.")
    [found] = as_app.channel.fetch_thread(pull).reviews
    assert (found.path, found.first_line, found.line) == ("n.txt", 9, 10)
    assert found.side is DiffSide.NEW
    assert found.hunk == "@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10\n+ten"
    assert (found.is_resolved, found.is_outdated) == (False, False)
    assert [(post.author.login, post.text) for post in found.posts] == [
        ("bob", "Why a word?"),
        ("ann", "It reads better."),
    ]
    assert all(post.author.external_id.isdigit() for post in found.posts)


def test_s43_resolved_and_outdated_threads_are_marked(
    fake: FakeGitHub, as_app: GitHub, pull: ThreadRef
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
    fake: FakeGitHub, as_app: GitHub, pull: ThreadRef
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
    fake: FakeGitHub, as_app: GitHub, pull: ThreadRef
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
    assert not [seen for seen in fake.requests if "graphql" in seen.path]


def test_reviews_are_asked_for_again_when_github_fails(
    fake: FakeGitHub, as_app: GitHub, pull: ThreadRef
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
    ref = ThreadRef(repo=SHOP, kind=ThreadKind.PULL_REQUEST, number=number)
    with pytest.raises(NotFoundError):
        as_app.channel.fetch_thread(ref)


def test_the_query_asks_for_fields_that_github_has(corpus: Path | None) -> None:
    """Without the corpus there is only the form of the query to look at."""
    types = {} if corpus is None else _types(corpus / "github" / "schema.graphql")
    asked = list(
        _fields("Query", re.findall(r"\.\.\. on \w+|\w+|[{}]", _plain()), types)
    )
    assert ("PullRequestReviewThread" if types else "", "isResolved") in asked
    assert [field for kind, field in asked if types and field not in types[kind]] == []


def _plain() -> str:
    """Return the query without its arguments."""
    return re.sub(r"\([^)]*\)", "", QUERY).removeprefix("query")


def _types(schema: Path) -> dict[str, dict[str, str]]:
    """Return the type of each field of each type."""
    text = re.sub(r'"""(.*?)"""', "", schema.read_text(), flags=re.DOTALL)
    block = re.compile(r"(?ms)^(?:type|interface) (\w+)[^{]*\{(.*?)^\}")
    field = re.compile(r"(?ms)^  (\w+)(?:\([^)]*\))?: \[?(\w+)")
    common = {"__typename": "String"}
    return {
        name: common | dict(field.findall(body)) for name, body in block.findall(text)
    }


def _fields(
    kind: str, tokens: list[str], types: dict[str, dict[str, str]]
) -> Iterator[tuple[str, str]]:
    """Yield each field that is asked for, with the type it is asked of."""
    kinds: list[str] = []
    coming = kind if types else ""
    for token in tokens:
        if token == "{":
            kinds.append(coming)
        elif token == "}":
            kinds.pop()
        elif token.startswith("..."):
            coming = token.split()[-1] if types else ""
        else:
            yield kinds[-1], token
            coming = types.get(kinds[-1], {}).get(token, "")
