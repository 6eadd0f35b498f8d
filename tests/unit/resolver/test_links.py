"""References in texts are found as GitHub shows them, and nowhere else."""

from datetime import UTC, datetime

import pytest

from patchwright.core.types.people import Actor
from patchwright.core.types.threads import (
    ForgeForms,
    ForgeThread,
    RepoRef,
    Repository,
    ThreadKind,
    ThreadPost,
)
from patchwright.resolver.context.links import (
    CodeLink,
    CommitLink,
    ThreadLink,
    agreed_branches,
    find_links,
)

WEB = "https://git.acme.dev"
SHOP = RepoRef(forge="github", full_name="acme/shop")
OTHER = RepoRef(forge="github", full_name="other/lib")
HOME = ForgeThread(repo=SHOP, kind=ThreadKind.ISSUE, number=7)
SHA = "0123456789" * 4
AT_HOME = Repository(
    ref=SHOP,
    default_branch="main",
    clone_url=f"{WEB}/acme/shop.git",
    web_url=f"{WEB}/acme/shop",
    private=False,
)


def found(text: str) -> list[object]:
    post = ThreadPost(
        id="1",
        author=Actor(service="github", login="alice"),
        text=text,
        at=datetime(2030, 1, 1, tzinfo=UTC),
    )
    return [link.target for link in find_links([post], HOME, AT_HOME)]


def names(text: str) -> list[str]:
    post = ThreadPost(
        id="1",
        author=Actor(service="github", login="alice"),
        text=text,
        at=datetime(2030, 1, 1, tzinfo=UTC),
    )
    return [link.name for link in find_links([post], HOME, AT_HOME)]


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("see #12.", ThreadLink(repo=SHOP, number=12)),
        ("(GH-12)", ThreadLink(repo=SHOP, number=12)),
        ("other/lib#12", ThreadLink(repo=OTHER, number=12)),
        ("ACME/Shop#12", ThreadLink(repo=SHOP, number=12)),
        (f"{WEB}/acme/shop/issues/12#issuecomment-9", ThreadLink(repo=SHOP, number=12)),
        (f"[that]({WEB}/other/lib/pull/12/files)", ThreadLink(repo=OTHER, number=12)),
        (f"<{WEB}/acme/shop/discussions/12>", ThreadLink(repo=SHOP, number=12)),
        (SHA, CommitLink(repo=SHOP, sha=SHA)),
        (f"other/lib@{SHA}", CommitLink(repo=OTHER, sha=SHA)),
        (f"{WEB}/acme/shop/commit/0123abc", CommitLink(repo=SHOP, sha="0123abc")),
        (f"{WEB}/acme/shop/pull/9/commits/{SHA}", CommitLink(repo=SHOP, sha=SHA)),
        (
            f"{WEB}/acme/shop/blob/spike/src/a%20b.py?plain=1#L3-L9",
            CodeLink(repo=SHOP, rest="spike/src/a b.py", first=3, last=9),
        ),
    ],
)
def test_c3_each_way_to_refer_to_something_is_read(text: str, target: object) -> None:
    assert found(text) == [target]


@pytest.mark.parametrize(
    "text",
    [
        "`#12`",
        "```\n#12\n```",
        "<!-- #12 -->",
        "<p hidden>#12</p>",
        "#7",
        f"{WEB}/acme/shop/issues/7",
        "colour #fff, #12ab, &#8203; a#12, #0, #12-b",
        "https://evil.example.com/acme/shop/issues/12",
        "https://evil.example.com/#12",
        f"https://evil.example.com/?to={WEB}.evil/acme/shop/issues/12",
        f"{WEB}/acme/../issues/12",
        f"{WEB}/acme/shop/blob/main/../../../../user",
        f"{WEB}/acme/shop/blob/main/%2e%2e/secret",
        "0123456789abcdef",
    ],
)
def test_c3_nothing_else_is_a_reference(text: str) -> None:
    assert found(text) == []


def test_c3_a_thing_is_found_once_in_the_order_of_the_texts() -> None:
    text = f"#9, then GH-8, {WEB}/acme/shop/pull/9 and other/lib#9"
    assert names(text) == ["#9", "#8", "other/lib#9"]


def blob(rest: str) -> str:
    return f"{WEB}/acme/shop/blob/{rest}"


def branches(text: str) -> tuple[str, ...]:
    post = ThreadPost(
        id="1",
        author=Actor(service="github", login="alice"),
        text=text,
        at=datetime(2030, 1, 1, tzinfo=UTC),
    )
    return agreed_branches(find_links([post], HOME, AT_HOME), SHOP)


def test_s34_links_that_agree_name_a_branch() -> None:
    text = f"{blob('spike/src/a.py#L10')} and {blob('spike/b.py')}"
    assert branches(text) == ("spike",)


def test_s34_a_branch_may_have_slashes_in_its_name() -> None:
    assert branches(blob("feat/x/src/a.py")) == ("feat", "feat/x", "feat/x/src")


@pytest.mark.parametrize(
    "text",
    [
        "no link",
        f"{blob('spike/a.py')} {blob('main/a.py')}",
        blob(f"{SHA}/a.py"),
        f"{WEB}/other/lib/blob/spike/a.py",
    ],
)
def test_s34_links_that_differ_or_name_no_branch_are_ignored(text: str) -> None:
    assert branches(text) == ()


IN_GROUPS = RepoRef(forge="burrow", full_name="acme/web/shop")
APART = Repository(
    ref=IN_GROUPS,
    default_branch="main",
    clone_url=f"{WEB}/acme/web/shop.git",
    web_url=f"{WEB}/acme/web/shop",
    private=False,
    forms=ForgeForms(
        has_groups=True,
        pages_path="-/",
        thread_paths={
            "issues": ThreadKind.ISSUE,
            "merge_requests": ThreadKind.MERGE_REQUEST,
        },
        pull_kind=ThreadKind.MERGE_REQUEST,
    ),
)
MERGE_7 = ForgeThread(repo=IN_GROUPS, kind=ThreadKind.MERGE_REQUEST, number=7)
MERGE = ThreadKind.MERGE_REQUEST


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("see #7", ThreadLink(repo=IN_GROUPS, number=7)),
        ("see !8.", ThreadLink(repo=IN_GROUPS, number=8, kind=MERGE)),
        ("ACME/web/shop!8", ThreadLink(repo=IN_GROUPS, number=8, kind=MERGE)),
        (
            f"{WEB}/acme/web/shop/-/merge_requests/8#note_1",
            ThreadLink(repo=IN_GROUPS, number=8, kind=MERGE),
        ),
        (f"{WEB}/acme/web/shop/-/issues/7", ThreadLink(repo=IN_GROUPS, number=7)),
        (
            f"{WEB}/acme/web/shop/-/blob/spike/a.py#L3",
            CodeLink(repo=IN_GROUPS, rest="spike/a.py", first=3),
        ),
    ],
)
def test_a_forge_may_count_merge_requests_apart(text: str, target: object) -> None:
    post = ThreadPost(
        id="1",
        author=Actor(service="burrow", login="alice"),
        text=text,
        at=datetime(2030, 1, 1, tzinfo=UTC),
    )
    targets = [link.target for link in find_links([post], MERGE_7, APART)]
    assert targets == [target]
