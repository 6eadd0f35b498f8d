"""Whose comments the agent reads."""

from datetime import UTC, datetime, timedelta

import pytest

from patchwright.core.settings.repository import ContextFrom
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import (
    ForgeThread,
    RepoRef,
    ReviewThread,
    Thread,
    ThreadKind,
    ThreadPost,
)
from patchwright.resolver.context.thread_history import (
    MAX_AUTHORS,
    FilteredThreads,
    filter_comments,
)

START = datetime(2030, 1, 1, tzinfo=UTC)
REF = ForgeThread(
    repo=RepoRef(forge="github", full_name="acme/shop"),
    kind=ThreadKind.PULL_REQUEST,
    number=1,
)
ALICE = Actor(service="github", login="alice", external_id="1")


def post(number: int, author: Actor | str, role: str = "") -> ThreadPost:
    who = author if isinstance(author, Actor) else _actor(author)
    at = START + timedelta(minutes=number)
    return ThreadPost(id=str(number), author=who, text=f"{number}", at=at, role=role)


def _actor(login: str) -> Actor:
    return Actor(service="github", login=login, external_id=f"id of {login}")


def thread(*posts: ThreadPost, reviews: tuple[ReviewThread, ...] = ()) -> Thread:
    return Thread(ref=REF, title="t", url="", posts=posts, reviews=reviews)


def texts(heard: FilteredThreads) -> list[str]:
    return [one.text for said in heard.threads for one in said.posts]


def may_write(*logins: str) -> dict[str, Permission]:
    return dict.fromkeys(logins, Permission.WRITE)


def listen(
    said: Thread, rule: ContextFrom, known: dict[str, Permission]
) -> FilteredThreads:
    return filter_comments([said], rule, [ALICE], lambda one: known.get(one.login))


def test_not_knowing_means_no_and_nobody_is_asked_about_twice() -> None:
    asked: list[str] = []

    def ask(one: Actor) -> Permission | None:
        asked.append(one.login)
        return {"bob": Permission.WRITE, "mia": Permission.TRIAGE}.get(one.login)

    posts = [post(n, who) for n, who in enumerate(["eve", "bob", "mia", "bob", "eve"])]
    heard = filter_comments([thread(*posts, post(9, ALICE))], "write", [ALICE], ask)
    assert texts(heard) == ["0", "1", "3", "9"]
    assert asked == ["eve", "bob", "mia"]
    assert heard.notes == (
        "2 comments of people who may not write here were left out.",
    )


def test_the_opening_text_counts_whoever_wrote_it() -> None:
    heard = listen(thread(post(0, "eve"), post(1, "eve")), "write", {})
    assert texts(heard) == ["0"]
    assert heard.notes == ("1 comment of people who may not write here was left out.",)


@pytest.mark.parametrize(
    ("role", "counts"),
    [
        ("owner", True),
        ("member", True),
        ("collaborator", True),
        ("contributor", False),
        ("", False),
    ],
)
def test_by_association_the_forge_says_who_belongs(role: str, *, counts: bool) -> None:
    said = thread(post(0, "eve"), post(1, "bob", role))
    assert ("1" in texts(listen(said, "association", {}))) is counts


def test_reviews_are_heard_alike_and_empty_ones_are_gone() -> None:
    reviews = (
        ReviewThread(id="a", path="x", line=1, posts=(post(1, "eve"), post(2, "bob"))),
        ReviewThread(id="b", path="x", line=2, posts=(post(3, "eve"),)),
    )
    heard = listen(thread(post(0, "eve"), reviews=reviews), "write", may_write("bob"))
    [only] = heard.threads[0].reviews
    assert (only.id, [one.text for one in only.posts]) == ("a", ["2"])
    assert heard.notes[0].startswith("2 comments")


def test_who_is_known_by_name_alone_is_one_of_ours() -> None:
    bot = Actor(service="github", login="Bot[bot]", is_bot=True)
    said = thread(post(0, "eve"), post(1, "bot[bot]"), post(2, "bot"))
    assert texts(filter_comments([said], "write", [bot], lambda _: None)) == ["0", "1"]


def test_the_newest_authors_are_asked_about_and_not_all() -> None:
    people = [f"p{number}" for number in range(MAX_AUTHORS + 5)]
    posts = [post(number, who) for number, who in enumerate(people, 1)]
    heard = listen(thread(post(0, "eve"), *posts), "write", may_write(*people))
    assert len(texts(heard)) == 1 + MAX_AUTHORS
    assert texts(heard)[-1] == str(len(people))


def test_without_a_rule_everybody_is_heard_and_nobody_asked_about() -> None:
    def ask(one: Actor) -> Permission:
        raise AssertionError(one)

    said = thread(post(0, "eve"), post(1, "mia"))
    assert filter_comments([said], "all-marked", [], ask) == FilteredThreads(
        threads=(said,)
    )
