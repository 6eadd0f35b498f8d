"""The webhooks of the fake GitHub: what they say, who signed them, where they go."""

import hashlib
import hmac
import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator, Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT7, DRAFT202012

from tests.fakes.github import Delivery, FakeGitHub, Proposal, deliver
from tests.fakes.github.clients import integration, pygithub
from tests.fakes.github.contract import corpus_folder
from tests.fakes.github.exchange import Request
from tests.fakes.github.server import Server, Wire

REPO = "acme/shop"
APP = 7
SECRET = "hush"

Mismatches = Callable[[Delivery], list[str]]


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with FakeGitHub() as fake:
        fake.add_user("alice")
        fake.add_repository(REPO, files={"a.txt": "a\n"})
        fake.grant(REPO, "alice", "write")
        yield fake


def app_key(github: FakeGitHub) -> str:
    key = github.add_app(APP, "patchwright", SECRET)
    github.install_app(APP, "acme", ["shop"])
    return key


def everything_happens(github: FakeGitHub) -> None:
    """Let people and a bot do all that is announced."""
    key = app_key(github)
    number = github.open_issue(REPO, "alice", "A bug", "@bot please")
    github.edit_issue(REPO, number, "alice", title="A worse bug", body="Really.")
    github.label(REPO, number, "fix me", "alice")
    github.unlabel(REPO, number, "fix me", "alice")
    comment = github.comment(REPO, number, "alice", "please")
    github.edit_comment(comment, "alice", "pretty please")
    with integration(github, APP, key) as app:
        found = app.get_repo_installation("acme", "shop")
        token = app.get_access_token(found.id).token
    with pygithub(github, token) as bot:
        bot.get_repo(REPO).get_issue(number).create_comment("on it")
    github.delete_comment(comment, "alice")
    github.close_issue(REPO, number, "alice")
    pull_requests_happen(github, token)


def pull_requests_happen(github: FakeGitHub, bot_token: str) -> None:
    github.commit_files(REPO, "fix", {"a.txt": "b\n"})
    with pygithub(github, bot_token) as bot:
        pull = bot.get_repo(REPO).create_pull(
            title="Fix", head="fix", base="main", draft=True
        )
        pull.mark_ready_for_review()
        pull.edit(body="Closes #1")
    github.label(REPO, pull.number, "fix me", "alice")
    github.comment(REPO, pull.number, "alice", "nice")
    github.commit_files(REPO, "fix", {"a.txt": "c\n"})
    github.add_user("eve")
    fork = github.fork(REPO, "eve")
    github.commit_files(fork, "main", {"b.txt": "b\n"})
    proposal = Proposal(title="Mine", head="eve:main", base="main")
    github.open_pull_request(REPO, "eve", proposal)


@cache
def read(path: Path) -> Any:
    return json.loads(path.read_bytes())


def older_mismatches(folder: Path) -> Mismatches:
    schema = read(folder / "webhooks.schema.json")
    resource = DRAFT7.create_resource(schema)
    registry: Registry[Any] = Registry().with_resource("urn:hooks", resource)

    def mismatches(delivery: Delivery) -> list[str]:
        name = f"{delivery.event}${delivery.action}"
        reference = {"$ref": f"urn:hooks#/definitions/{name}"}
        judge = Draft7Validator(reference, registry=registry)
        return [e.message[:200] for e in judge.iter_errors(json.loads(delivery.body))]

    return mismatches


def current_mismatches(folder: Path) -> Mismatches:
    schema = read(folder / "webhooks-current.schema.json")
    resource = DRAFT202012.create_resource(schema)
    registry: Registry[Any] = Registry().with_resource("urn:hooks", resource)

    def mismatches(delivery: Delivery) -> list[str]:
        name = f"{delivery.event}.{delivery.action}"
        reference = {"$ref": f"urn:hooks#/events/{name}"}
        judge = Draft202012Validator(reference, registry=registry)
        return [e.message[:200] for e in judge.iter_errors(json.loads(delivery.body))]

    return mismatches


def schemas() -> list[Mismatches]:
    corpus = corpus_folder()
    if corpus is None:
        return []
    folder = corpus / "github"
    return [older_mismatches(folder), current_mismatches(folder)]


def test_deliveries_fit_githubs_own_schemas(github: FakeGitHub) -> None:
    everything_happens(github)
    told = {f"{delivery.event}.{delivery.action}" for delivery in github.deliveries}
    assert told == {
        "issues.opened",
        "issues.edited",
        "issues.labeled",
        "issues.unlabeled",
        "issues.closed",
        "issue_comment.created",
        "issue_comment.edited",
        "issue_comment.deleted",
        "pull_request.opened",
        "pull_request.edited",
        "pull_request.labeled",
        "pull_request.ready_for_review",
        "pull_request.synchronize",
    }
    wrong = [
        (delivery.event, delivery.action, problem)
        for mismatches in schemas()
        for delivery in github.deliveries
        for problem in mismatches(delivery)
    ]
    assert wrong == []


def test_a_delivery_is_signed_with_the_apps_secret(github: FakeGitHub) -> None:
    app_key(github)
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
    app_key(github)
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
