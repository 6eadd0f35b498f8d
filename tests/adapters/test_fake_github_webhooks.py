"""The webhooks of the fake GitHub: who signed them, and where they go."""

import hashlib
import hmac
import json
from collections.abc import Iterator

import pytest

from tests.fakes.github.exchange import Request
from tests.fakes.github.fake import FakeGitHub
from tests.fakes.github.server import Server, Wire
from tests.fakes.github.webhooks.sending import deliver

REPO = "acme/shop"
APP = 7
SECRET = "hush"


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with FakeGitHub() as fake:
        fake.add_user("alice")
        fake.add_repository(REPO, files={"a.txt": "a\n"})
        fake.grant(REPO, "alice", "write")
        yield fake


def install(github: FakeGitHub) -> None:
    github.add_app(APP, "patchwright", SECRET)
    github.install_app(APP, "acme", ["shop"])


def test_a_delivery_is_signed_with_the_apps_secret(github: FakeGitHub) -> None:
    install(github)
    github.open_issue(REPO, "alice", "Fehler: größer", "@bot please")
    delivery = github.delivery("issues", "opened")
    digest = hmac.new(SECRET.encode(), delivery.body, hashlib.sha256).hexdigest()
    headers = delivery.headers
    assert headers["X-Hub-Signature-256"] == f"sha256={digest}"
    assert headers["X-GitHub-Event"] == "issues"
    assert headers["X-GitHub-Delivery"] == delivery.guid
    assert headers["X-GitHub-Hook-Installation-Target-Type"] == "integration"
    assert headers["X-GitHub-Hook-Installation-Target-ID"] == str(APP)


def test_an_app_and_a_hook_are_each_told_with_their_own_secret(
    github: FakeGitHub,
) -> None:
    install(github)
    github.add_hook(REPO, "another")
    github.open_issue(REPO, "alice", "A bug", "")
    to_app, to_hook = github.deliveries
    assert "installation" in json.loads(to_app.body)
    assert "installation" not in json.loads(to_hook.body)
    kind = to_hook.headers["X-GitHub-Hook-Installation-Target-Type"]
    assert kind == "repository"
    assert to_app.guid != to_hook.guid


def test_where_nobody_listens_nothing_is_sent(github: FakeGitHub) -> None:
    github.open_issue(REPO, "alice", "A bug", "")
    assert github.deliveries == []


def test_an_edit_tells_what_was_there_before(github: FakeGitHub) -> None:
    github.add_hook(REPO, SECRET)
    number = github.open_issue(REPO, "alice", "A bug", "old")
    github.edit_issue(REPO, number, "alice", body="new")
    told = json.loads(github.delivery("issues", "edited").body)
    assert told["changes"] == {"body": {"from": "old"}}
    assert told["issue"]["body"] == "new"


def test_a_delivery_is_carried_to_its_receiver(github: FakeGitHub) -> None:
    github.add_hook(REPO, SECRET)
    github.open_issue(REPO, "alice", "A bug", "")
    heard: list[Request] = []

    def receive(request: Request) -> Wire:
        heard.append(request)
        return Wire(202, {}, b"thanks")

    delivery = github.delivery("issues")
    with Server(receive) as receiver:
        receipt = deliver(delivery, f"{receiver.url}/hooks?from=github")
    assert (receipt.status, receipt.body) == (202, b"thanks")
    assert heard[0].body == delivery.body
    assert heard[0].headers["x-github-delivery"] == delivery.guid
    assert (heard[0].path, heard[0].query) == ("/hooks", {"from": "github"})
