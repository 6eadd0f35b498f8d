"""The basic addresses of the fake GitHub answer, and as GitHub describes it."""

from collections.abc import Iterator

import pytest

from tests.fakes.github.acts.pulls import Proposal
from tests.fakes.github.clients import integration, pygithub
from tests.fakes.github.exchange import Json
from tests.fakes.github.fake import FakeGitHub
from tests.fakes.github.routes import (
    apps,
    comments,
    issues,
    pulls,
    repositories,
    users,
)

# Tests of their own hold the others against GitHub's description.
BASIC_ROUTES = (
    *apps.ROUTES,
    *comments.ROUTES,
    *issues.ROUTES,
    *pulls.ROUTES,
    *repositories.ROUTES,
    *users.ROUTES,
)

Asked = tuple[str, str, Json | None]

REPO = "/repos/acme/shop"
APP = 7
COMMENT = {"body": "hello"}
REACTION = {"content": "eyes"}
PULL = {"title": "More", "head": "more", "base": "main"}

# In this order; numbers follow from the fixture below. `None` sends no body.
CALLS: tuple[Asked, ...] = (
    ("GET", "/user", None),
    ("GET", "/users/alice", None),
    ("GET", "/rate_limit", None),
    ("GET", REPO, None),
    ("GET", f"{REPO}/collaborators/alice/permission", None),
    ("GET", f"{REPO}/branches/main", None),
    ("GET", f"{REPO}/git/ref/heads/main", None),
    ("GET", f"{REPO}/commits/main", None),
    ("GET", f"{REPO}/issues", None),
    ("POST", f"{REPO}/issues", {"title": "A bug", "body": "It breaks."}),
    ("GET", f"{REPO}/issues/1", None),
    ("PATCH", f"{REPO}/issues/1", {"title": "A worse bug", "state": "closed"}),
    ("POST", f"{REPO}/issues/1/labels", {"labels": ["fix me"]}),
    ("GET", f"{REPO}/issues/1/labels", None),
    ("DELETE", f"{REPO}/issues/1/labels/fix%20me", None),
    ("POST", f"{REPO}/issues/1/reactions", REACTION),
    ("GET", f"{REPO}/issues/1/reactions", None),
    ("DELETE", f"{REPO}/issues/1/reactions/{{reaction}}", None),
    ("POST", f"{REPO}/issues/1/comments", COMMENT),
    ("GET", f"{REPO}/issues/1/comments", None),
    ("GET", f"{REPO}/issues/comments/{{comment}}", None),
    ("PATCH", f"{REPO}/issues/comments/{{comment}}", COMMENT),
    ("POST", f"{REPO}/issues/comments/{{comment}}/reactions", REACTION),
    ("GET", f"{REPO}/issues/comments/{{comment}}/reactions", None),
    ("DELETE", f"{REPO}/issues/comments/{{comment}}/reactions/{{reaction}}", None),
    ("DELETE", f"{REPO}/issues/comments/{{comment}}", None),
    ("POST", f"{REPO}/pulls", PULL),
    ("GET", f"{REPO}/pulls", None),
    ("GET", f"{REPO}/pulls/2", None),
    ("PATCH", f"{REPO}/pulls/2", {"title": "Better", "state": "closed"}),
    ("GET", f"{REPO}/pulls/2/files", None),
    ("GET", f"{REPO}/pulls/2/commits", None),
    ("GET", f"{REPO}/pulls/2/comments", None),
    ("DELETE", f"{REPO}/git/refs/heads/more", None),
)
APP_CALLS: tuple[Asked, ...] = (
    ("GET", "/app", None),
    ("GET", "/app/installations", None),
    ("GET", "/app/installations/{installation}", None),
    ("GET", f"{REPO}/installation", None),
    ("POST", "/app/installations/{installation}/access_tokens", None),
    (
        "POST",
        "/app/installations/{installation}/access_tokens",
        {"repositories": ["shop"], "permissions": {"contents": "read"}},
    ),
)


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with FakeGitHub() as fake:
        fake.add_user("alice")
        fake.add_repository("acme/shop", files={"a.txt": "a\n"})
        fake.grant("acme/shop", "alice", "admin")
        fake.open_issue("acme/shop", "alice", "A bug", "")
        fake.commit_files("acme/shop", "fix", {"a.txt": "b\n"})
        fake.commit_files("acme/shop", "more", {"a.txt": "c\n", "b c.txt": "d\n"})
        proposal = Proposal(title="Fix", head="fix", base="main")
        fake.open_pull_request("acme/shop", "alice", proposal)
        yield fake


def newest(github: FakeGitHub) -> dict[str, int]:
    """Return the newest id of each kind, for the addresses that need one."""
    return {
        "comment": max(github.world.comments, default=0),
        "reaction": max(github.world.reactions, default=0),
        "installation": max(github.world.installations, default=0),
    }


def test_every_route_answers_as_described(github: FakeGitHub) -> None:
    key = github.add_app(APP, "patchwright", "hush")
    installed = github.install_app(APP, "acme", ["shop"])
    with pygithub(github, github.add_user("alice")) as client:
        for method, path, body in CALLS:
            address = path.format(**newest(github))
            client.requester.requestJsonAndCheck(method, address, input=body)
    with integration(github, APP, key) as app:
        for method, path, body in APP_CALLS:
            address = path.format(**newest(github))
            app.requester.requestJsonAndCheck(method, address, input=body)
        token = app.get_access_token(installed).token
    with pygithub(github, token) as bot:
        bot.requester.requestJsonAndCheck("GET", "/installation/repositories")
    assert len(CALLS) + len(APP_CALLS) == len(BASIC_ROUTES)
    assert {request.status for request in github.requests} == {200, 201, 204}
    assert github.contract_errors == []
