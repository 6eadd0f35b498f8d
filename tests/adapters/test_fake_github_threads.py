"""Issues, comments, reactions and permissions of the fake GitHub, through PyGithub."""

from collections.abc import Iterator

import pytest
from github import Github, GithubException

from tests.fakes.github.clients import pygithub
from tests.fakes.github.fake import FakeGitHub

REPO = "acme/shop"


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with FakeGitHub() as fake:
        fake.add_user("alice")
        fake.add_repository(REPO, default_branch="trunk", files={"a.txt": "a\n"})
        fake.grant(REPO, "alice", "write")
        yield fake


@pytest.fixture
def alice(github: FakeGitHub) -> Iterator[Github]:
    with pygithub(github, github.add_user("alice")) as client:
        yield client


def refusal(problem: pytest.ExceptionInfo[GithubException]) -> tuple[int, str]:
    return problem.value.status, str(problem.value.data["message"])


def test_a_repository_tells_its_default_branch(alice: Github) -> None:
    repo = alice.get_repo(REPO)
    assert repo.default_branch == "trunk"
    assert repo.clone_url.endswith("/acme/shop.git")
    assert repo.permissions.push


def test_names_are_found_without_regard_to_case(alice: Github) -> None:
    assert alice.get_repo("ACME/Shop").full_name == REPO


def test_a_comment_is_written_and_edited_in_place(
    github: FakeGitHub, alice: Github
) -> None:
    number = github.open_issue(REPO, "alice", "A bug", "It breaks.")
    issue = alice.get_repo(REPO).get_issue(number)
    issue.create_comment("working").edit("done")
    assert [(c.author, c.body) for c in github.comments(REPO, number)] == [
        ("alice", "done")
    ]


def test_comments_come_in_pages_that_link_to_each_other(
    github: FakeGitHub, alice: Github
) -> None:
    number = github.open_issue(REPO, "alice", "A bug", "")
    for count in range(205):
        github.comment(REPO, number, "alice", f"comment {count}")
    alice.per_page = 1000
    comments = alice.get_repo(REPO).get_issue(number).get_comments()
    assert [c.body for c in comments] == [f"comment {n}" for n in range(205)]
    assert len([r for r in github.requests if r.path.endswith("/comments")]) == 3


@pytest.mark.parametrize("length", [65_537, 0])
def test_a_comment_too_long_or_empty_is_refused(
    github: FakeGitHub, alice: Github, length: int
) -> None:
    number = github.open_issue(REPO, "alice", "A bug", "")
    issue = alice.get_repo(REPO).get_issue(number)
    with pytest.raises(GithubException) as problem:
        issue.create_comment("x" * length)
    assert refusal(problem) == (422, "Validation Failed")
    issue.create_comment("x" * 65_536)


def test_a_stranger_may_comment_but_not_edit_what_others_wrote(
    github: FakeGitHub,
) -> None:
    number = github.open_issue(REPO, "alice", "A bug", "")
    comment = github.comment(REPO, number, "alice", "hands off")
    with pygithub(github, github.add_user("eve")) as eve:
        issue = eve.get_repo(REPO).get_issue(number)
        issue.create_comment("hello")
        with pytest.raises(GithubException) as problem:
            issue.get_comment(comment).edit("mine now")
    assert problem.value.status == 403
    assert github.comments(REPO, number)[0].body == "hands off"


def test_one_person_reacts_once_in_each_way(github: FakeGitHub, alice: Github) -> None:
    number = github.open_issue(REPO, "alice", "A bug", "")
    comment = github.comment(REPO, number, "alice", "please")
    issue = alice.get_repo(REPO).get_issue(number)
    first = issue.create_reaction("eyes")
    assert issue.create_reaction("eyes").id == first.id
    issue.get_comment(comment).create_reaction("rocket")
    assert [r.content for r in github.reactions(REPO, number)] == ["eyes"]
    assert [r.content for r in github.reactions(REPO, number, comment)] == ["rocket"]
    statuses = [r.status for r in github.requests if r.path.endswith("/reactions")]
    assert statuses == [201, 200, 201]


def test_labels_are_put_on_and_taken_off(github: FakeGitHub, alice: Github) -> None:
    number = github.open_issue(REPO, "alice", "A bug", "")
    issue = alice.get_repo(REPO).get_issue(number)
    issue.add_to_labels("fix me", "urgent")
    assert [label.name for label in issue.get_labels()] == ["fix me", "urgent"]
    issue.remove_from_labels("fix me")
    assert github.issue(REPO, number).labels == ("urgent",)


@pytest.mark.parametrize(
    ("role", "old_word"),
    [
        ("read", "read"),
        ("triage", "read"),
        ("write", "write"),
        ("maintain", "write"),
        ("admin", "admin"),
    ],
)
def test_five_roles_are_told_in_three_old_words(
    github: FakeGitHub, alice: Github, role: str, old_word: str
) -> None:
    github.add_user("bob")
    github.grant(REPO, "bob", role)
    repo = alice.get_repo(REPO)
    assert repo.get_collaborator_permission("bob") == old_word
    assert repo.get_collaborator_role_name("bob") == role


def test_an_organizations_own_role_has_its_own_name(
    github: FakeGitHub, alice: Github
) -> None:
    github.add_user("bob")
    github.grant(REPO, "bob", "write", role_name="release captain")
    repo = alice.get_repo(REPO)
    assert repo.get_collaborator_role_name("bob") == "release captain"
    assert repo.get_collaborator_permission("bob") == "write"


def test_nobody_in_particular_reads_what_is_public_alone(
    github: FakeGitHub, alice: Github
) -> None:
    github.add_user("eve")
    github.add_repository("acme/vault", private=True)
    github.grant("acme/vault", "alice", "admin")
    assert alice.get_repo(REPO).get_collaborator_permission("eve") == "read"
    assert alice.get_repo("acme/vault").get_collaborator_permission("eve") == "none"


@pytest.mark.parametrize("login", ["robot[bot]", "ghost"])
def test_a_bot_or_an_unknown_login_is_no_user_with_permissions(
    github: FakeGitHub, alice: Github, login: str
) -> None:
    github.add_user("robot[bot]", bot=True)
    with pytest.raises(GithubException) as problem:
        alice.get_repo(REPO).get_collaborator_permission(login)
    assert refusal(problem) == (404, f"{login} is not a user")


def test_permissions_are_shown_to_those_who_may_push_alone(
    github: FakeGitHub,
) -> None:
    with (
        pygithub(github, github.add_user("eve")) as eve,
        pytest.raises(GithubException) as problem,
    ):
        eve.get_repo(REPO).get_collaborator_permission("alice")
    assert problem.value.status == 403


def test_an_own_server_has_its_api_below_a_prefix() -> None:
    with FakeGitHub(enterprise=True) as github:
        token = github.add_user("alice")
        github.add_repository(REPO, files={"a.txt": "a\n"})
        number = github.open_issue(REPO, "alice", "A bug", "")
        with pygithub(github, token) as client:
            issue = client.get_repo(REPO).get_issue(number)
            assert issue.html_url == f"{github.web_url}/{REPO}/issues/{number}"
            assert issue.url.startswith(f"{github.web_url}/api/v3/repos/")
