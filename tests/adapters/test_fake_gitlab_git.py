"""Git over HTTP with the fake GitLab: real git, real refusals."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.github import bare
from tests.fakes.github.clients import Clone
from tests.fakes.gitlab import (
    FakeGitLab,
    Level,
    Place,
    Proposal,
    PushRules,
    Visibility,
)
from tests.fakes.gitlab.clients import Caller, git_url
from tests.fakes.tls import make_authority

REPO = "top/sub/app"
WORDS = {
    "branch_name": (
        PushRules(branch_name=r"^(feat|main)"),
        r"Branch name 'topic' does not follow the pattern '^(feat|main)'",
    ),
    "commit_message": (
        PushRules(commit_message=r"^JIRA-\d+"),
        r"Commit message does not follow the pattern '^JIRA-\d+'",
    ),
    "negative_message": (
        PushRules(negative_message="Change"),
        "Commit message contains the forbidden pattern 'Change'",
    ),
    "author_email": (
        PushRules(author_email="@corp.test$"),
        "Author's email 'dev@example.test' does not follow the pattern '@corp.test$'",
    ),
    "file_name": (
        PushRules(file_name=r"\.txt$"),
        r"File name b.txt was prohibited by the pattern '\.txt$'.",
    ),
    "max_file_mb": (
        PushRules(max_file_mb=1),
        'File "b.txt" is larger than the allowed size of 1 MiB.',
    ),
    "reject_unsigned": (
        PushRules(reject_unsigned=True),
        "Commit must be signed with a GPG key",
    ),
}


@pytest.fixture
def fake() -> Iterator[FakeGitLab]:
    with FakeGitLab() as server:
        server.add_user("root", admin=True)
        server.add_project(REPO, files={"a.txt": "a\n"}, visibility=Visibility.PRIVATE)
        yield server


def clone(fake: FakeGitLab, folder: Path, level: Level, name: str = "alice") -> Clone:
    token = fake.add_user(name)
    fake.grant(REPO, name, level)
    return Clone.of(git_url(fake, REPO, token), folder / name)


def test_a_branch_is_pushed_and_told_of(fake: FakeGitLab, tmp_path: Path) -> None:
    fake.add_hook(REPO, "secret")
    work = clone(fake, tmp_path, Level.DEVELOPER)
    work.commit("b.txt", "b\n", branch="work")
    work.run("push", "-q", "origin", "HEAD:refs/heads/topic")
    assert bare.find_commit(fake.git_folder(REPO), "refs/heads/topic")
    told = fake.delivery("Push Hook").body.decode()
    assert '"ref": "refs/heads/topic"' in told
    assert '"total_commits_count": 1' in told


def test_developers_leave_protected_branches_alone(
    fake: FakeGitLab, tmp_path: Path
) -> None:
    work = clone(fake, tmp_path, Level.DEVELOPER)
    work.commit("b.txt", "b\n", branch="work")
    text = "You are not allowed to push code to protected branches on this project."
    assert f"remote: GitLab: {text}" in work.failure("push", "origin", "HEAD:main")
    boss = clone(fake, tmp_path, Level.MAINTAINER, "boss")
    boss.commit("b.txt", "b\n", branch="work")
    boss.run("push", "-q", "origin", "HEAD:main")
    who = ("-c", "user.name=a", "-c", "user.email=a@example.test")
    boss.run(*who, "commit", "-q", "--amend", "-m", "Otherwise")
    assert "force push" in boss.failure("push", "-f", "origin", "HEAD:main")
    gone = boss.failure("push", "origin", ":main")
    assert "The default branch of a project cannot be deleted." in gone


def test_reporters_read_and_guests_do_not(fake: FakeGitLab, tmp_path: Path) -> None:
    work = clone(fake, tmp_path, Level.REPORTER)
    work.commit("b.txt", "b\n", branch="work")
    said = work.failure("push", "origin", "HEAD:refs/heads/topic")
    assert "remote: You are not allowed to push code to this project." in said
    assert "403" in said
    with pytest.raises(subprocess.CalledProcessError) as problem:
        clone(fake, tmp_path, Level.GUEST, "guest")
    assert b"You are not allowed to download code" in problem.value.stderr


def test_a_token_needs_a_scope_for_git(fake: FakeGitLab, tmp_path: Path) -> None:
    token = fake.add_user("alice", scopes=["read_repository"])
    fake.grant(REPO, "alice", Level.DEVELOPER)
    work = Clone.of(git_url(fake, REPO, token), tmp_path / "clone")
    work.commit("b.txt", "b\n", branch="work")
    said = work.failure("push", "origin", "HEAD:refs/heads/topic")
    assert "You are not allowed to upload code." in said
    token = fake.add_user("bob", scopes=["read_api"])
    fake.grant(REPO, "bob", Level.DEVELOPER)
    said = work.failure("ls-remote", git_url(fake, REPO, token))
    assert "HTTP Basic: Access denied." in said


def test_what_is_hidden_is_not_found(fake: FakeGitLab, tmp_path: Path) -> None:
    token = fake.add_user("eve")
    with pytest.raises(subprocess.CalledProcessError) as problem:
        Clone.of(git_url(fake, REPO, token), tmp_path / "clone")
    text = "The project you were looking for could not be found"
    assert text in problem.value.stderr.decode()


@pytest.mark.parametrize("rule", WORDS)
def test_a_push_rule_says_what_it_wants(
    fake: FakeGitLab, tmp_path: Path, rule: str
) -> None:
    rules, words = WORDS[rule]
    work = clone(fake, tmp_path, Level.DEVELOPER)
    fake.set_rules(REPO, rules)
    work.commit("b.txt", "b" * (1 << 20) + "b", branch="work")
    said = work.failure("push", "origin", "HEAD:refs/heads/topic")
    assert f"remote: GitLab: {words}" in said
    assert "(pre-receive hook declined)" in said
    assert bare.find_commit(fake.git_folder(REPO), "refs/heads/topic") is None


def test_who_pushes_a_new_branch_is_told_where_to_go_on(
    fake: FakeGitLab, tmp_path: Path
) -> None:
    work = clone(fake, tmp_path, Level.DEVELOPER)
    work.commit("b.txt", "b\n", branch="fix/a")
    push = ["git", "-C", str(work.folder), "push", "origin", "HEAD:refs/heads/fix/a"]
    said = subprocess.run(push, capture_output=True, check=True, text=True).stderr
    page = f"{fake.base_url}/{REPO}/-/merge_requests/new"
    assert "remote: To create a merge request for fix/a, visit:" in said
    assert f"{page}?merge_request%5Bsource_branch%5D=fix%2Fa" in said


def test_a_push_rule_keeps_secrets_out(fake: FakeGitLab, tmp_path: Path) -> None:
    work = clone(fake, tmp_path, Level.DEVELOPER)
    fake.set_rules(REPO, PushRules(prevent_secrets=True))
    work.commit("id_rsa", "key", branch="work")
    said = work.failure("push", "origin", "HEAD:refs/heads/topic")
    assert "File name id_rsa was prohibited by the pattern 'id_rsa$'." in said


def test_a_merge_request_has_a_reference(fake: FakeGitLab, tmp_path: Path) -> None:
    work = clone(fake, tmp_path, Level.DEVELOPER)
    work.commit("b.txt", "b\n", branch="work")
    work.run("push", "-q", "origin", "HEAD:refs/heads/topic")
    fake.open_merge_request(
        REPO, "alice", Proposal(title="Two", source="topic", target="main")
    )
    work.run("fetch", "-q", "origin", "refs/merge-requests/1/head")
    assert work.run("rev-parse", "FETCH_HEAD") == work.run("rev-parse", "HEAD")
    work.commit("c.txt", "c\n", branch="work")
    work.run("push", "-q", "origin", "HEAD:refs/heads/topic")
    [seen] = fake.merge_requests(REPO)
    assert seen.head_sha == work.run("rev-parse", "HEAD")
    said = work.failure("push", "origin", "HEAD:refs/merge-requests/1/head")
    assert "deny updating a hidden ref" in said


def test_a_fork_lets_in_whom_it_collaborates_with(
    fake: FakeGitLab, tmp_path: Path
) -> None:
    fake.add_project("top/open", files={"a.txt": "a\n"})
    fake.add_user("eve")
    there = fake.fork("top/open", "eve")
    fake.commit_files(there, "topic", {"b.txt": "b\n"}, author="eve")
    token = fake.add_user("alice")
    fake.grant("top/open", "alice", Level.DEVELOPER)
    work = Clone.of(git_url(fake, there, token), tmp_path / "clone")
    work.run("checkout", "-q", "topic")
    work.commit("c.txt", "c\n", branch="work")
    assert "not allowed to push" in work.failure("push", "origin", "HEAD:topic")
    proposal = Proposal(
        title="Two",
        source="topic",
        target="main",
        fork=there,
        allow_collaboration=True,
    )
    fake.open_merge_request("top/open", "eve", proposal)
    work.run("push", "-q", "origin", "HEAD:topic")
    said = work.failure("push", "origin", "HEAD:refs/heads/other")
    assert "You are not allowed to push code to this project." in said


def test_the_old_name_leads_to_the_new_one(fake: FakeGitLab, tmp_path: Path) -> None:
    token = fake.add_user("alice")
    fake.grant(REPO, "alice", Level.OWNER)
    fake.move_project(REPO, "top/sub/shop", "alice")
    work = Clone.of(git_url(fake, REPO, token), tmp_path / "clone")
    assert work.run("ls-files") == "a.txt"


def test_an_archived_project_takes_nothing(fake: FakeGitLab, tmp_path: Path) -> None:
    work = clone(fake, tmp_path, Level.OWNER)
    fake.archive(REPO)
    said = work.failure("push", "origin", "HEAD:refs/heads/topic")
    assert "You can't push code to a read-only project." in said


def test_it_may_lie_below_a_path_behind_a_private_authority(tmp_path: Path) -> None:
    authority = make_authority(tmp_path, "corp")
    with FakeGitLab(Place(prefix="/gitlab", authority=authority)) as fake:
        assert fake.base_url.startswith("https://")
        assert fake.base_url.endswith("/gitlab")
        token = fake.add_user("alice")
        fake.add_project("alice/app", files={"a.txt": "a\n"})
        trust = ("-c", f"http.sslCAInfo={authority.bundle}")
        url = git_url(fake, "alice/app", token)
        listed = bare.git(tmp_path, *trust, "ls-remote", url, "refs/heads/main")
        assert listed.endswith(b"\trefs/heads/main\n")
        with pytest.raises(subprocess.CalledProcessError):
            bare.git(tmp_path, "ls-remote", url)
        host, port = fake.address
        outside = Caller(fake).fetch("GET", f"http://{host}:{port}/api/v4/version")
        assert outside.status == 404
