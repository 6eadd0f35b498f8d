"""Git over HTTP with the fake GitHub: real git, real refusals."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.github import bare
from tests.fakes.github.acts import accounts
from tests.fakes.github.acts.pulls import Proposal
from tests.fakes.github.bare import File
from tests.fakes.github.clients import Clone, git_url, integration
from tests.fakes.github.fake import FakeGitHub

REPO = "acme/shop"


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with FakeGitHub() as fake:
        fake.add_repository(REPO, private=True, files={"a.txt": "a\n"})
        yield fake


@pytest.fixture
def alice(github: FakeGitHub) -> str:
    token = github.add_user("alice")
    github.grant(REPO, "alice", "write")
    return token


def refusal(github: FakeGitHub, url: str) -> str:
    with pytest.raises(subprocess.CalledProcessError) as problem:
        bare.git(github.git_folder(REPO), "ls-remote", url)
    return str(problem.value.stderr.decode())


def test_files_arrive_as_they_were_given(
    github: FakeGitHub, alice: str, tmp_path: Path
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    source.joinpath("crlf.txt").write_bytes(b"a\r\nb")
    source.joinpath("run me").write_bytes(b"#!/bin/sh\n")
    source.joinpath("run me").chmod(0o755)
    source.joinpath("link").symlink_to("crlf.txt")
    github.add_repository("acme/odd", default_branch="trunk", from_path=source)
    github.commit_files("acme/odd", "trunk", {"x.bin": File(b"\0", "100755")})
    clone = Clone.of(git_url(github, "acme/odd", alice), tmp_path / "clone")
    listed = clone.run("ls-files", "--stage").splitlines()
    modes = {line.split("\t")[1]: line.split(" ")[0] for line in listed}
    assert modes == {
        "crlf.txt": "100644",
        "link": "120000",
        "run me": "100755",
        "x.bin": "100755",
    }
    assert clone.folder.joinpath("crlf.txt").read_bytes() == b"a\r\nb"
    assert clone.run("branch", "--show-current") == "trunk"


def test_protocol_version_two_is_spoken(github: FakeGitHub, alice: str) -> None:
    spoken = subprocess.run(
        ["git", "ls-remote", git_url(github, REPO, alice)],
        capture_output=True,
        check=True,
        env={**bare.git_environment(), "GIT_TRACE_PACKET": "1"},
    )
    assert b"git< version 2" in spoken.stderr


def test_a_push_of_many_megabytes_arrives(
    github: FakeGitHub, alice: str, tmp_path: Path
) -> None:
    clone = Clone.of(git_url(github, REPO, alice), tmp_path / "clone")
    numbers = "\n".join(str(n * n * 7919) for n in range(400_000))
    sha = clone.commit("many.txt", numbers, branch="fix")
    clone.run("push", "--quiet", "origin", "fix")
    assert bare.find_commit(github.git_folder(REPO), "refs/heads/fix") == sha


def test_a_wrong_token_is_refused(github: FakeGitHub) -> None:
    said = refusal(github, git_url(github, REPO, "ghp_wrong"))
    assert "Authentication failed" in said


def test_without_a_token_a_private_repository_asks_for_one(
    github: FakeGitHub,
) -> None:
    refusal(github, f"{github.web_url}/{REPO}.git")
    assert github.requests[-1].status == 401


def test_what_is_public_is_read_without_a_token(github: FakeGitHub) -> None:
    github.add_repository("acme/open", files={"a.txt": "a\n"})
    url = f"{github.web_url}/acme/open"
    listed = bare.git(github.git_folder(REPO), "ls-remote", url)
    assert b"refs/heads/main" in listed


def test_a_strangers_token_does_not_find_what_is_private(github: FakeGitHub) -> None:
    eve = github.add_user("eve")
    said = refusal(github, git_url(github, REPO, eve))
    assert "not found" in said
    assert github.requests[-1].status == 404


def test_an_expired_token_is_refused(github: FakeGitHub, alice: str) -> None:
    accounts.expire_token(github.world, alice)
    said = refusal(github, git_url(github, REPO, alice))
    assert "Authentication failed" in said


def test_a_reader_does_not_push(github: FakeGitHub, tmp_path: Path) -> None:
    eve = github.add_user("eve")
    github.grant(REPO, "eve", "read")
    clone = Clone.of(git_url(github, REPO, eve), tmp_path / "clone")
    clone.commit("a.txt", "b\n", branch="fix")
    assert "403" in clone.failure("push", "origin", "fix")
    assert github.requests[-1].status == 403
    assert bare.find_commit(github.git_folder(REPO), "refs/heads/fix") is None


def test_an_installation_pushes_where_it_may_write_contents(
    github: FakeGitHub, tmp_path: Path
) -> None:
    key = github.add_app(7, "patchwright", "hush")
    installed = github.install_app(7, "acme", [REPO])
    with integration(github, 7, key) as app:
        writer = app.get_access_token(installed).token
        reader = app.get_access_token(installed, {"contents": "read"}).token
    clone = Clone.of(git_url(github, REPO, reader), tmp_path / "clone")
    sha = clone.commit("a.txt", "b\n", branch="fix")
    assert "403" in clone.failure("push", "origin", "fix")
    clone.run("push", "--quiet", git_url(github, REPO, writer), "fix")
    assert bare.find_commit(github.git_folder(REPO), "refs/heads/fix") == sha


def test_a_protected_branch_refuses_every_push(
    github: FakeGitHub, alice: str, tmp_path: Path
) -> None:
    github.protect_branch(REPO, "main")
    clone = Clone.of(git_url(github, REPO, alice), tmp_path / "clone")
    clone.commit("a.txt", "b\n", branch="main")
    said = clone.failure("push", "origin", "main")
    assert "Protected branch update failed for refs/heads/main" in said
    clone.run("push", "--quiet", "origin", "main:refs/heads/fix")


def test_a_pull_request_follows_the_branch_it_comes_from(
    github: FakeGitHub, alice: str, tmp_path: Path
) -> None:
    clone = Clone.of(git_url(github, REPO, alice), tmp_path / "clone")
    clone.commit("a.txt", "b\n", branch="fix")
    clone.run("push", "--quiet", "origin", "fix")
    proposal = Proposal(title="Fix", head="fix", base="main")
    number = github.open_pull_request(REPO, "alice", proposal)
    sha = clone.commit("a.txt", "c\n", branch="fix")
    clone.run("push", "--quiet", "origin", "fix")
    assert github.pull_requests(REPO)[0].head_sha == sha
    clone.run("fetch", "--quiet", "origin", f"refs/pull/{number}/head")
    assert clone.run("rev-parse", "FETCH_HEAD") == sha
    said = clone.failure("push", "origin", f"+main:refs/pull/{number}/head")
    assert "hidden ref" in said


def test_maintainers_push_to_the_one_branch_that_a_fork_lends_them(
    github: FakeGitHub, alice: str, tmp_path: Path
) -> None:
    github.add_user("eve")
    fork = github.fork(REPO, "eve")
    github.grant(fork, "alice", "read")
    github.commit_files(fork, "fix", {"a.txt": "b\n"}, author="eve")
    clone = Clone.of(git_url(github, fork, alice), tmp_path / "clone")
    clone.run("checkout", "--quiet", "fix")
    sha = clone.commit("a.txt", "c\n", branch="fix")
    assert "403" in clone.failure("push", "origin", "fix")
    proposal = Proposal(title="Fix", head="eve:fix", base="main")
    github.open_pull_request(REPO, "eve", proposal)
    assert "You may only push" in clone.failure("push", "origin", "fix:main")
    clone.run("push", "--quiet", "origin", "fix")
    assert github.pull_requests(REPO)[0].head_sha == sha
