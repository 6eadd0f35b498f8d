"""Whatever people do, the fake GitHub tells of it as GitHub's own schemas say."""

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator, Draft202012Validator
from openapi_schema_validator import oas30_format_checker
from referencing import Registry
from referencing.jsonschema import DRAFT7, DRAFT202012

from tests.fakes.github import bare
from tests.fakes.github.acts import (
    assignments,
    discussions,
    installations,
    moves,
    reviews,
    threads,
)
from tests.fakes.github.acts.builds import set_status
from tests.fakes.github.acts.pulls import Proposal
from tests.fakes.github.acts.reviews import Remark, Spot
from tests.fakes.github.clients import integration, pygithub
from tests.fakes.github.contract import corpus_folder
from tests.fakes.github.fake import FakeGitHub
from tests.fakes.github.state import Delivery
from tests.fakes.github.webhooks.check_suites import SuiteDone, send_check_suite

REPO = "acme/shop"
APP = 7
SECRET = "hush"
# No library knows these, as they are GitHub's own words.
FORMATS_OF_ITS_OWN = {"repo.nwo", "timestamp"}
# The older schema refuses what these events must or may have today.
GREW = {"discussion", "discussion_comment", "repository"}

TOLD = {
    "check_suite.completed",
    "discussion.closed",
    "discussion.created",
    "discussion.edited",
    "discussion.labeled",
    "discussion_comment.created",
    "discussion_comment.edited",
    "installation.deleted",
    "installation.suspend",
    "installation_repositories.removed",
    "issue_comment.created",
    "issue_comment.deleted",
    "issue_comment.edited",
    "issues.assigned",
    "issues.closed",
    "issues.edited",
    "issues.labeled",
    "issues.opened",
    "issues.reopened",
    "issues.unassigned",
    "issues.unlabeled",
    "pull_request.assigned",
    "pull_request.closed",
    "pull_request.edited",
    "pull_request.labeled",
    "pull_request.opened",
    "pull_request.ready_for_review",
    "pull_request.synchronize",
    "pull_request.unassigned",
    "pull_request_review.edited",
    "pull_request_review.submitted",
    "pull_request_review_comment.created",
    "pull_request_review_comment.edited",
    "push.",
    "repository.renamed",
    "repository.transferred",
    "status.",
}

# None where the schema does not know the event.
Mismatches = Callable[[Delivery], list[str] | None]


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


def reviews_happen(github: FakeGitHub) -> None:
    """Let somebody review the pull request that comes from the branch `fix`."""
    world, number = github.world, 2
    spots = [Spot(path="a.txt", line=1), Spot(path="a.txt", line=1, side="LEFT")]
    remarks = [Remark(spot=spot, body="Why?") for spot in spots]
    review = reviews.submit_review(
        world,
        REPO,
        number,
        author="alice",
        state="CHANGES_REQUESTED",
        body="Not yet.",
        remarks=remarks,
    )
    reviews.edit_review(world, review, actor="alice", body="Not quite yet.")
    thread = reviews.thread_ids(world, review)[0]
    reviews.answer(world, thread, author="alice", body="Because.")
    reviews.edit_comment(world, thread, 0, actor="alice", body="Why so?")
    suite = failed_suite(github, "fix")
    send_check_suite(world, suite)
    set_status(world, REPO, suite.sha, "old/ci", state="failure", text="It broke")


def failed_suite(github: FakeGitHub, branch: str) -> SuiteDone:
    tip = bare.find_commit(github.git_folder(REPO), f"refs/heads/{branch}")
    return SuiteDone(
        repo=REPO,
        branch=branch,
        sha=tip or "",
        conclusion="failure",
        actor="alice",
    )


def people_talk_and_assign(github: FakeGitHub) -> None:
    world = github.world
    talk = discussions.open_discussion(
        world, REPO, author="alice", title="How?", body="@bot how?"
    )
    discussions.edit_discussion(world, talk.id, actor="alice", body="How then?")
    discussions.label_discussion(world, talk.id, "fix me", actor="alice")
    said = discussions.discuss(world, talk.id, author="alice", body="Anyone?")
    discussions.edit_discussed(world, said.id, actor="alice", body="Nobody?")
    discussions.close_discussion(world, talk.id, actor="alice")
    for number in (1, 2):
        assignments.assign(world, REPO, number, "alice", actor="alice")
        assignments.unassign(world, REPO, number, "alice", actor="alice")
    issue = world.issue(REPO, 1)
    threads.set_open(world, issue, actor="alice", is_open=True)
    threads.set_open(world, world.issue(REPO, 2), actor="alice", is_open=False)


def the_app_loses_ground(github: FakeGitHub) -> None:
    world = github.world
    github.add_repository("acme/other")
    moves.rename(world, REPO, "store", actor="alice")
    moves.transfer(world, "acme/store", "globex", actor="alice")
    moves.transfer(world, "globex/store", "alice", actor="alice")
    moves.transfer(world, "alice/store", "acme", actor="alice")
    (mine,) = world.installations
    installations.take_repository(world, mine, "acme/store", actor="alice")
    installations.suspend_app(world, mine, actor="alice")
    installations.uninstall(world, mine, actor="alice")


@cache
def read(path: Path) -> Any:
    return json.loads(path.read_bytes())


def older_mismatches(folder: Path) -> Mismatches:
    schema = read(folder / "webhooks.schema.json")
    resource = DRAFT7.create_resource(schema)
    registry: Registry[Any] = Registry().with_resource("urn:hooks", resource)

    def mismatches(delivery: Delivery) -> list[str] | None:
        name = f"{delivery.event}${delivery.action or 'event'}"
        if name not in schema["definitions"] or delivery.event in GREW:
            return None
        reference = {"$ref": f"urn:hooks#/definitions/{name}"}
        judge = Draft7Validator(reference, registry=registry)
        return [e.message[:200] for e in judge.iter_errors(json.loads(delivery.body))]

    return mismatches


def current_mismatches(folder: Path) -> Mismatches:
    schema = read(folder / "webhooks-current.schema.json")
    resource = DRAFT202012.create_resource(schema)
    registry: Registry[Any] = Registry().with_resource("urn:hooks", resource)

    def mismatches(delivery: Delivery) -> list[str] | None:
        name = f"{delivery.event}.{delivery.action}"
        if name not in schema["events"]:
            return None
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
    reviews_happen(github)
    people_talk_and_assign(github)
    the_app_loses_ground(github)
    told = {f"{delivery.event}.{delivery.action}" for delivery in github.deliveries}
    assert told == TOLD
    wrong = [
        (delivery.event, delivery.action, problem)
        for delivery in github.deliveries
        for problem in problems(delivery)
    ]
    assert wrong == []


def problems(delivery: Delivery) -> list[str]:
    """Hold it against each schema that knows the event; one at least must."""
    found = [mismatches(delivery) for mismatches in schemas()]
    told = [problem for some in found for problem in some or ()]
    return ["no schema knows it"] if found and found == [None, None] else told


def formats(node: Any) -> Iterator[str]:
    """Yield the formats that a description asks of its strings and numbers."""
    if isinstance(node, dict) and isinstance(node.get("format"), str):
        yield node["format"]
    for part in node.values() if isinstance(node, dict) else node:
        if isinstance(part, dict | list):
            yield from formats(part)


def test_every_format_that_github_describes_is_checked() -> None:
    corpus = corpus_folder()
    described = read(corpus / "github" / "openapi.json") if corpus else {}
    assert (
        set(formats(described)) <= {*oas30_format_checker.checkers} | FORMATS_OF_ITS_OWN
    )
