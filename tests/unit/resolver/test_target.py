"""Where a run starts and which branch it may write."""

from typing import Any

from patchwright.core.types.threads import (
    ForgeThread,
    PullRequest,
    RepoRef,
    Repository,
    ThreadKind,
)
from patchwright.resolver.publish.target import RunTarget, plan_target
from tests.unit.resolver.places import SLACK, ticket

REPO = RepoRef(forge="github", full_name="acme/shop")
ISSUE = ForgeThread(repo=REPO, kind=ThreadKind.ISSUE, number=7)
PULL = ForgeThread(repo=REPO, kind=ThreadKind.PULL_REQUEST, number=8)
SHOP = Repository(
    ref=REPO,
    default_branch="trunk",
    clone_url="https://example.com/acme/shop.git",
    web_url="https://example.com/acme/shop",
    private=False,
)


FORK = RepoRef(forge="github", full_name="eve/shop")


def pull(*, same_repository: bool, **facts: Any) -> PullRequest:
    usual: dict[str, Any] = {"head_repo": REPO if same_repository else FORK}
    return PullRequest(
        number=8,
        url="https://example.com/acme/shop/pull/8",
        head_branch="feature/sum",
        base_branch="release",
        head_sha="a" * 40,
        draft=False,
        same_repository=same_repository,
        **(usual | facts),
    )


def test_s33_an_issue_starts_from_the_default_branch_whatever_its_name() -> None:
    assert plan_target(ISSUE, "Wrong sum", SHOP, None) == RunTarget(
        start_ref="refs/heads/trunk",
        base_branch="trunk",
        branch="patchwright/7-wrong-sum",
    )


def test_s35_a_second_request_goes_on_with_our_pull_request() -> None:
    target = plan_target(ISSUE, "Wrong sum", SHOP, pull(same_repository=True))
    assert (target.start_ref, target.branch) == (
        "refs/heads/feature/sum",
        "feature/sum",
    )
    assert target.moves_branch
    assert target.own_pull_request
    assert not target.opens_pull_request


def test_s32_a_request_in_a_pull_request_writes_exactly_its_branch() -> None:
    target = plan_target(PULL, "Wrong sum", SHOP, pull(same_repository=True))
    assert (target.branch, target.base_branch) == ("feature/sum", "release")
    assert target.moves_branch
    assert not target.own_pull_request


def test_s21_a_forks_branch_is_read_by_number_and_never_written() -> None:
    target = plan_target(PULL, "Wrong sum", SHOP, pull(same_repository=False))
    assert target.start_ref == "refs/pull/8/head"
    assert target.branch == "patchwright/8-wrong-sum"
    assert not target.moves_branch
    assert not target.opens_pull_request
    assert "from a fork" in target.note
    assert not target.fork


def test_s21_a_fork_that_is_open_to_maintainers_gets_the_change_itself() -> None:
    of_fork = pull(same_repository=False, maintainers_may_push=True)
    target = plan_target(PULL, "Wrong sum", SHOP, of_fork)
    assert target.start_ref == "refs/pull/8/head"
    assert (target.fork, target.branch) == ("eve/shop", "feature/sum")
    assert (target.moves_branch, target.pull_request) == (True, 8)
    assert target.base_branch == "release"
    assert not target.note


def test_s21_a_fork_that_was_deleted_leaves_a_branch_of_ours() -> None:
    lost = pull(same_repository=False, head_repo=None, maintainers_may_push=True)
    target = plan_target(PULL, "Wrong sum", SHOP, lost)
    assert target.start_ref == "refs/pull/8/head"
    assert target.branch == "patchwright/8-wrong-sum"
    assert "is gone" in target.note


def test_a_closed_pull_request_is_followed_by_a_new_one() -> None:
    closed = pull(same_repository=True, is_open=False)
    target = plan_target(PULL, "Wrong sum", SHOP, closed)
    assert (target.start_ref, target.base_branch) == ("refs/heads/release", "release")
    assert target.branch == "patchwright/8-wrong-sum"
    assert target.opens_pull_request
    assert "is closed" in target.note


def test_s33_another_base_and_another_name_are_used() -> None:
    target = plan_target(ISSUE, "x", SHOP, None, branch="bot/7", base="develop")
    assert (target.start_ref, target.base_branch) == ("refs/heads/develop", "develop")
    assert target.branch == "bot/7"


def test_s33_a_pull_request_keeps_its_base_and_its_branch() -> None:
    ours = pull(same_repository=True)
    target = plan_target(PULL, "x", SHOP, ours, branch="bot/7", base="develop")
    assert (target.base_branch, target.branch) == ("release", "feature/sum")


def test_s46_the_branch_is_named_after_number_and_title() -> None:
    title = 'Fix: "../../etc" & $(rm -rf /) — größer als 10 %?'
    target = plan_target(ISSUE, title, SHOP, None)
    assert target.branch == "patchwright/7-fix-etc-rm-rf-grosser-als-10"


def test_a_pull_request_that_a_chat_is_about_stays_somebodys() -> None:
    theirs = pull(same_repository=True)
    named = plan_target(SLACK, "Wrong sum", SHOP, theirs, is_named=True)
    assert (named.branch, named.pull_request) == ("feature/sum", 8)
    assert not named.own_pull_request
    assert plan_target(SLACK, "Wrong sum", SHOP, theirs).own_pull_request


def test_branches_are_named_after_tickets_and_chats() -> None:
    threads = (ticket("APP-7"), SLACK)
    assert [plan_target(one, "Wrong sum", SHOP, None).branch for one in threads] == [
        "patchwright/APP-7-wrong-sum",
        "patchwright/1712345678-123456-wrong-sum",
    ]
