"""Who the fake GitHub believes whom to be, and what it refuses them."""

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta

import jwt
import pytest
from github import Github, GithubException

from patchwright.core.system.clock import SystemClock
from tests.fakes.github.acts import accounts
from tests.fakes.github.clients import integration, pygithub
from tests.fakes.github.fake import FakeGitHub

REPO = "acme/shop"
APP = 7


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with FakeGitHub() as fake:
        fake.add_repository(REPO, private=True, files={"a.txt": "a\n"})
        fake.add_repository("acme/other", private=True, files={"a.txt": "a\n"})
        yield fake


@pytest.fixture
def key(github: FakeGitHub) -> str:
    return github.add_app(APP, "patchwright", "hush")


def assertion(key: str, *, issued_s: int = -60, expires_s: int = 300) -> str:
    now = int(SystemClock().now().timestamp())
    claims = {"iss": str(APP), "iat": now + issued_s, "exp": now + expires_s}
    return jwt.encode(claims, key, algorithm="RS256")


def refused(github: FakeGitHub, token: str, path: str) -> tuple[int, str]:
    with (
        pygithub(github, token) as client,
        pytest.raises(GithubException) as problem,
    ):
        client.requester.requestJsonAndCheck("GET", path)
    return problem.value.status, str(problem.value.data["message"])


def test_an_unknown_token_is_bad_credentials(github: FakeGitHub) -> None:
    assert refused(github, "ghp_nobody", f"/repos/{REPO}") == (401, "Bad credentials")
    assert github.requests[-1].authorization == "refused"


def test_an_expired_token_is_bad_credentials(github: FakeGitHub) -> None:
    token = github.add_user("alice")
    with pygithub(github, token) as client:
        assert client.get_user().login == "alice"
    accounts.expire_token(github.world, token)
    assert refused(github, token, "/user")[0] == 401


def test_a_private_repository_does_not_exist_for_others(github: FakeGitHub) -> None:
    eve = github.add_user("eve")
    assert refused(github, eve, f"/repos/{REPO}") == (404, "Not Found")
    github.grant(REPO, "eve", "read")
    with pygithub(github, eve) as client:
        assert client.get_repo(REPO).private


def test_an_app_finds_its_installation_and_acts_as_its_bot(
    github: FakeGitHub, key: str
) -> None:
    installed = github.install_app(APP, "acme", ["shop"])
    number = github.open_issue(REPO, "acme", "A bug", "")
    with integration(github, APP, key) as app:
        assert app.get_app().slug == "patchwright"
        found = app.get_repo_installation("acme", "shop")
        token = app.get_access_token(found.id)
    assert found.id == installed
    assert token.expires_at - SystemClock().now() > timedelta(minutes=55)
    with pygithub(github, token.token) as bot:
        comment = bot.get_repo(REPO).get_issue(number).create_comment("hello")
    assert (comment.user.login, comment.user.type) == ("patchwright[bot]", "Bot")
    assert github.requests[-1].authorization == "installation"


def test_an_app_that_is_not_installed_finds_nothing(
    github: FakeGitHub, key: str
) -> None:
    github.install_app(APP, "acme", ["other"])
    with (
        integration(github, APP, key) as app,
        pytest.raises(GithubException) as problem,
    ):
        app.get_repo_installation("acme", "shop")
    assert problem.value.status == 404


def test_an_installation_token_ends_at_its_repositories(
    github: FakeGitHub, key: str
) -> None:
    installed = github.install_app(APP, "acme", ["shop"])
    with integration(github, APP, key) as app:
        token = app.get_access_token(installed).token
        reached = app.get_app_installation(installed).get_repos()
        assert [repo.full_name for repo in reached] == [REPO]
    assert refused(github, token, "/repos/acme/other") == (404, "Not Found")


def test_a_token_may_be_asked_for_less_but_not_for_more(
    github: FakeGitHub, key: str
) -> None:
    installed = github.install_app(APP, "acme", ["shop"])
    with integration(github, APP, key) as app:
        token = app.get_access_token(installed, permissions={"contents": "read"})
        with pytest.raises(GithubException) as problem:
            app.get_access_token(installed, permissions={"actions": "write"})
    assert problem.value.status == 422
    number = github.open_issue(REPO, "acme", "A bug", "")
    path = f"/repos/{REPO}/issues/{number}"
    said = refused(github, token.token, path)
    assert said == (403, "Resource not accessible by integration")


def test_a_suspended_installation_gets_no_token(github: FakeGitHub, key: str) -> None:
    installed = github.install_app(APP, "acme", ["shop"])
    accounts.suspend(github.world, installed)
    with (
        integration(github, APP, key) as app,
        pytest.raises(GithubException) as problem,
    ):
        app.get_access_token(installed)
    assert problem.value.status == 403


def test_apps_and_workflows_are_nobody_to_ask_for_a_user(
    github: FakeGitHub, key: str
) -> None:
    workflow = github.mint_actions_token(REPO, {"contents": "write"})
    said = refused(github, workflow, "/user")
    assert said == (403, "Resource not accessible by integration")
    assert refused(github, assertion(key), "/user")[0] == 401


@pytest.mark.parametrize(
    ("issued_s", "expires_s", "claim"),
    [(-60, 700, "exp"), (-600, -1, "exp"), (120, 300, "iat")],
)
def test_an_assertion_must_be_young_and_short_lived(
    github: FakeGitHub, key: str, issued_s: int, expires_s: int, claim: str
) -> None:
    token = assertion(key, issued_s=issued_s, expires_s=expires_s)
    status, message = refused(github, token, "/app")
    assert status == 401
    assert f"('{claim}')" in message


def test_an_assertion_by_another_key_is_not_believed(
    github: FakeGitHub, key: str
) -> None:
    other = github.add_app(8, "stranger", "hush")
    assert other != key
    assert refused(github, assertion(other), "/app")[0] == 401


def test_a_token_is_no_assertion(github: FakeGitHub) -> None:
    assert refused(github, github.add_user("alice"), "/app")[0] == 401


def test_who_is_nobody_reads_what_is_public_and_no_more(github: FakeGitHub) -> None:
    github.add_repository("acme/open", files={"a.txt": "a\n"})
    github.open_issue("acme/open", "acme", "A bug", "")
    permission = "/repos/acme/open/collaborators/acme/permission"
    with closing(Github(base_url=github.api_url, retry=None)) as nobody:
        assert nobody.get_repo("acme/open").get_issue(1).title == "A bug"
        with pytest.raises(GithubException) as problem:
            nobody.requester.requestJsonAndCheck("GET", permission)
    assert problem.value.status == 401
