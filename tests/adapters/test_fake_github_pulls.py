"""Pull requests of the fake GitHub, over real git, through PyGithub."""

from collections.abc import Iterator

import pytest
from github import Github, GithubException

from tests.fakes.github.acts.pulls import Proposal
from tests.fakes.github.clients import pygithub
from tests.fakes.github.fake import FakeGitHub

REPO = "acme/shop"
FILES = {"a.txt": "one\ntwo\n", "old.txt": "kept as it is\n", "gone.txt": "bye\n"}


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with FakeGitHub() as fake:
        fake.add_user("alice")
        fake.add_repository(REPO, files=FILES)
        fake.grant(REPO, "alice", "write")
        yield fake


@pytest.fixture
def alice(github: FakeGitHub) -> Iterator[Github]:
    with pygithub(github, github.add_user("alice")) as client:
        yield client


def complaint(client: Github, *, head: str, base: str = "main") -> dict[str, str]:
    with pytest.raises(GithubException) as problem:
        client.get_repo(REPO).create_pull(title="Fix", head=head, base=base)
    assert problem.value.status == 422
    [error] = problem.value.data["errors"]
    return {name: error[name] for name in ("field", "message") if name in error}


def test_a_pull_request_shows_what_git_holds(github: FakeGitHub, alice: Github) -> None:
    changes = {
        "a.txt": "one\nTWO\n",
        "b.bin": b"\0\1",
        "gone.txt": None,
        "old.txt": None,
        "new name.txt": FILES["old.txt"],
    }
    sha = github.commit_files(REPO, "fix", changes, message="Fix it\n\nReally.")
    pull = alice.get_repo(REPO).create_pull(title="Fix", head="fix", base="main")
    assert (pull.number, pull.head.sha, pull.commits) == (1, sha, 1)
    assert (pull.changed_files, pull.additions, pull.deletions) == (4, 1, 2)
    assert [c.commit.message for c in pull.get_commits()] == ["Fix it\n\nReally."]
    shown = [(f.filename, f.status, f.previous_filename) for f in pull.get_files()]
    assert shown == [
        ("a.txt", "modified", None),
        ("b.bin", "added", None),
        ("gone.txt", "removed", None),
        ("new name.txt", "renamed", "old.txt"),
    ]
    patches = [file.patch for file in pull.get_files()]
    assert patches[0] == "@@ -1,2 +1,2 @@\n one\n-two\n+TWO"
    assert patches[1] is None


def test_issues_and_pull_requests_share_their_numbers(
    github: FakeGitHub, alice: Github
) -> None:
    github.open_issue(REPO, "alice", "A bug", "")
    github.commit_files(REPO, "fix", {"a.txt": "x\n"})
    repo = alice.get_repo(REPO)
    number = repo.create_pull(title="Fix", head="fix", base="main").number
    assert number == 2
    assert repo.get_issue(number).pull_request is not None
    assert repo.get_issue(1).pull_request is None


def test_a_second_pull_request_from_one_branch_is_refused(
    github: FakeGitHub, alice: Github
) -> None:
    github.commit_files(REPO, "fix", {"a.txt": "x\n"})
    pull = alice.get_repo(REPO).create_pull(title="Fix", head="fix", base="main")
    said = {"message": "A pull request already exists for acme:fix."}
    assert complaint(alice, head="fix") == said
    pull.edit(state="closed")
    alice.get_repo(REPO).create_pull(title="Fix", head="fix", base="main")
    assert [p.is_open for p in github.pull_requests(REPO)] == [False, True]


def test_a_branch_that_holds_nothing_new_is_refused(
    github: FakeGitHub, alice: Github
) -> None:
    github.commit_files(REPO, "ahead", {"a.txt": "x\n"})
    said = complaint(alice, head="main", base="ahead")
    assert said == {"message": "No commits between ahead and main"}


def test_a_missing_branch_is_named(github: FakeGitHub, alice: Github) -> None:
    github.commit_files(REPO, "fix", {"a.txt": "x\n"})
    assert complaint(alice, head="nowhere") == {"field": "head"}
    assert complaint(alice, head="fix", base="master") == {"field": "base"}


def test_a_workflow_may_be_kept_from_opening_pull_requests(
    github: FakeGitHub,
) -> None:
    github.commit_files(REPO, "fix", {"a.txt": "x\n"})
    token = github.mint_actions_token(REPO, {"pull_requests": "write"})
    github.forbid_actions_pull_requests()
    with (
        pygithub(github, token) as client,
        pytest.raises(GithubException) as problem,
    ):
        client.get_repo(REPO).create_pull(title="Fix", head="fix", base="main")
    assert problem.value.status == 403
    assert "not permitted to create" in problem.value.data["message"]


def test_a_reader_opens_no_pull_request_from_a_branch_of_others(
    github: FakeGitHub,
) -> None:
    github.commit_files(REPO, "fix", {"a.txt": "x\n"})
    with (
        pygithub(github, github.add_user("eve")) as eve,
        pytest.raises(GithubException) as problem,
    ):
        eve.get_repo(REPO).create_pull(title="Fix", head="fix", base="main")
    assert problem.value.status == 403


@pytest.mark.parametrize("enterprise", [False, True])
def test_a_draft_becomes_ready_and_a_draft_again(enterprise: bool) -> None:  # noqa: FBT001 - pytest passes it by name
    with FakeGitHub(enterprise=enterprise) as github:
        token = github.add_user("alice")
        github.add_repository("alice/shop", files=FILES)
        github.commit_files("alice/shop", "fix", {"a.txt": "x\n"})
        with pygithub(github, token) as client:
            pull = client.get_repo("alice/shop").create_pull(
                title="Fix", head="fix", base="main", draft=True
            )
            pull.mark_ready_for_review()
            assert [p.draft for p in github.pull_requests("alice/shop")] == [False]
            pull.convert_to_draft()
            assert [p.draft for p in github.pull_requests("alice/shop")] == [True]


def test_a_pull_request_is_found_by_its_branch_and_edited(
    github: FakeGitHub, alice: Github
) -> None:
    for branch in ("fix", "other"):
        github.commit_files(REPO, branch, {"a.txt": f"{branch}\n"})
        github.open_pull_request(
            REPO, "alice", Proposal(title=branch, head=branch, base="main")
        )
    repo = alice.get_repo(REPO)
    [pull] = repo.get_pulls(head="acme:fix")
    pull.edit(title="Better", body="Closes #7")
    seen = github.pull_requests(REPO)[0]
    assert (seen.title, seen.body, seen.is_open) == ("Better", "Closes #7", True)
    pull.edit(state="closed")
    assert [p.title for p in repo.get_pulls()] == ["other"]
    assert [p.title for p in repo.get_pulls(state="closed")] == ["Better"]


def test_a_pull_request_from_a_fork_names_both_repositories(
    github: FakeGitHub, alice: Github
) -> None:
    github.add_user("eve")
    fork = github.fork(REPO, "eve")
    sha = github.commit_files(fork, "main", {"a.txt": "x\n"})
    number = github.open_pull_request(
        REPO, "eve", Proposal(title="Fix", head="eve:main", base="main")
    )
    pull = alice.get_repo(REPO).get_pull(number)
    assert (pull.head.repo.full_name, pull.base.repo.full_name) == (fork, REPO)
    assert (pull.head.label, pull.head.sha) == ("eve:main", sha)
    assert pull.maintainer_can_modify
    assert alice.get_repo(fork).parent.full_name == REPO


def test_a_pull_request_closes_when_its_branch_is_deleted(
    github: FakeGitHub, alice: Github
) -> None:
    sha = github.commit_files(REPO, "fix", {"a.txt": "x\n"})
    repo = alice.get_repo(REPO)
    repo.create_pull(title="Fix", head="fix", base="main")
    repo.get_git_ref("heads/fix").delete()
    [pull] = github.pull_requests(REPO)
    assert (pull.is_open, pull.head_sha) == (False, sha)


def test_branches_and_references_tell_their_commits(
    github: FakeGitHub, alice: Github
) -> None:
    sha = github.commit_files(REPO, "fix/a", {"a.txt": "x\n"})
    github.protect_branch(REPO, "main")
    repo = alice.get_repo(REPO)
    assert repo.get_branch("fix/a").commit.sha == sha
    assert repo.get_git_ref("heads/fix/a").object.sha == sha
    assert [repo.get_branch(n).protected for n in ("main", "fix/a")] == [True, False]
    with pytest.raises(GithubException) as problem:
        repo.get_branch("nowhere")
    assert problem.value.status == 404
