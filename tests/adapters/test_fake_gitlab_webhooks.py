"""Whatever people do, the fake GitLab tells of it as the real one was recorded to."""

import base64
import hashlib
import hmac
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from tests.fakes.gitlab import (
    MERGE_REQUEST,
    Delivery,
    FakeGitLab,
    Level,
    Proposal,
    Remark,
    Report,
    Spot,
)
from tests.fakes.gitlab.acts.hooks import bring, listen_at
from tests.fakes.gitlab.clients import Caller
from tests.fakes.gitlab.contract import differences
from tests.fakes.gitlab.webhooks.outbox import again
from tests.provision.environment import corpus

REPO = "top/sub/app"
TOKEN = "correct horse"
KEY = bytes(range(32))
SIGNING = f"whsec_{base64.b64encode(KEY).decode()}"
# Fields that a recording has of another time, or of what this server does not do.
OLD = {
    "issue": {"escalation_status", "escalation_policy", "repository"},
    "note": {"position", "branch_name", "repository"},
    "merge_request": {"repository"},
    "pipeline": {"source_pipeline"},
    "push": set[str](),
    "emoji": set[str](),
}


@pytest.fixture
def fake() -> Iterator[FakeGitLab]:
    with FakeGitLab() as server:
        for name in ("alice", "bob"):
            server.add_user(name)
            server.grant("top", name, Level.MAINTAINER)
        server.add_project(REPO, files={"a.txt": "a\n"})
        server.add_hook(REPO, TOKEN, signing_token=SIGNING)
        yield server


def propose(fake: FakeGitLab) -> int:
    fake.commit_files(REPO, "topic", {"b.txt": "b\n"}, author="alice")
    proposal = Proposal(title="Two", source="topic", target="main")
    return fake.open_merge_request(REPO, "alice", proposal)


def last(fake: FakeGitLab) -> Any:
    return json.loads(fake.deliveries[-1].body)


def events(fake: FakeGitLab, since: int = 0) -> list[str]:
    told = fake.deliveries[since:]
    return [f"{one.event}: {one.action}" if one.action else one.event for one in told]


def test_a_delivery_proves_itself_in_both_ways(fake: FakeGitLab) -> None:
    fake.open_issue(REPO, "alice", "Wrong sum", "It is wrong.")
    told = fake.deliveries[-1]
    assert told.headers["X-Gitlab-Event"] == "Issue Hook"
    assert told.headers["X-Gitlab-Token"] == TOKEN
    assert told.headers["X-Gitlab-Instance"] == fake.base_url
    assert told.headers["Idempotency-Key"] == told.headers["webhook-id"] == told.guid
    at = told.headers["webhook-timestamp"]
    signed = f"{told.guid}.{at}.".encode() + told.body
    digest = hmac.new(KEY, signed, hashlib.sha256).digest()
    proof = f"v1,{base64.b64encode(digest).decode()}"
    assert told.headers["webhook-signature"] == proof


def test_once_more_keeps_the_key_alone(fake: FakeGitLab) -> None:
    fake.open_issue(REPO, "alice", "Wrong sum", "It is wrong.")
    first = fake.deliveries[-1]
    second = again(fake.world, first)
    assert (second.body, second.guid) == (first.body, first.guid)
    names = ("X-Gitlab-Webhook-UUID", "X-Gitlab-Event-UUID")
    assert all(first.headers[name] != second.headers[name] for name in names)
    assert first.headers["Idempotency-Key"] == second.headers["Idempotency-Key"]


def test_an_issue_is_told_of_from_its_opening_to_its_end(fake: FakeGitLab) -> None:
    fake.open_issue(REPO, "alice", "Wrong sum", "It is wrong.", labels=["bug"])
    opened = last(fake)
    assert opened["changes"]["description"] == {
        "previous": None,
        "current": "It is wrong.",
    }
    fake.edit(REPO, 1, "bob", body="It is right.")
    assert last(fake)["changes"]["description"] == {
        "previous": "It is wrong.",
        "current": "It is right.",
    }
    fake.label(REPO, 1, "urgent", "bob")
    labels = last(fake)["changes"]["labels"]
    assert [one["title"] for one in labels["previous"]] == ["bug"]
    assert [one["title"] for one in labels["current"]] == ["bug", "urgent"]
    fake.assign(REPO, 1, ["bob"], "alice")
    assert last(fake)["changes"]["assignees"]["current"][0]["username"] == "bob"
    fake.close(REPO, 1, "bob")
    fake.reopen(REPO, 1, "bob")
    assert events(fake) == [
        "Issue Hook: open",
        "Issue Hook: update",
        "Issue Hook: update",
        "Issue Hook: update",
        "Issue Hook: close",
        "Issue Hook: reopen",
    ]
    assert len({one.guid for one in fake.deliveries}) == 6


def test_notes_are_told_of_when_written_and_edited(fake: FakeGitLab) -> None:
    fake.open_issue(REPO, "alice", "Wrong sum", "")
    note = fake.comment(REPO, 1, "bob", "Please.")
    fake.edit_comment(note, "bob", "Please, @patchwright.")
    assert last(fake)["object_attributes"]["note"] == "Please, @patchwright."
    fake.delete_comment(note)
    assert events(fake, 1) == ["Note Hook: create", "Note Hook: update"]


def test_what_is_confidential_is_told_of_as_such(fake: FakeGitLab) -> None:
    fake.open_issue(REPO, "alice", "Leak", "", confidential=True)
    assert last(fake)["event_type"] == "confidential_issue"
    fake.comment(REPO, 1, "bob", "Oh.")
    assert last(fake)["event_type"] == "confidential_note"
    fake.open_issue(REPO, "alice", "Wrong sum", "")
    fake.comment(REPO, 2, "bob", "Between us.", internal=True)
    assert [one.event for one in fake.deliveries] == [
        "Confidential Issue Hook",
        "Confidential Note Hook",
        "Issue Hook",
        "Confidential Note Hook",
    ]


def test_a_merge_request_is_told_of_to_its_end(fake: FakeGitLab) -> None:
    propose(fake)
    fake.request_review(REPO, 1, ["bob"], "alice")
    assert last(fake)["changes"]["reviewers"]["current"][0]["username"] == "bob"
    before = fake.merge_requests(REPO)[0].head_sha
    fake.commit_files(REPO, "topic", {"c.txt": "c\n"}, author="alice")
    assert last(fake)["object_attributes"]["oldrev"] == before
    fake.approve(REPO, 1, "bob")
    fake.merge(REPO, 1, "bob")
    assert events(fake) == [
        "Push Hook",
        "Merge Request Hook: open",
        "Merge Request Hook: update",
        "Push Hook",
        "Merge Request Hook: update",
        "Merge Request Hook: approved",
        "Merge Request Hook: merge",
        "Push Hook",
    ]


def test_a_review_is_several_notes_of_one_request(fake: FakeGitLab) -> None:
    propose(fake)
    since = len(fake.deliveries)
    spot = Spot(path="b.txt", line=1)
    remarks = [Remark(spot=spot, body="Why?"), Remark(spot=spot, body="And this?")]
    fake.review(REPO, 1, "bob", body="See below.", remarks=remarks)
    told = fake.deliveries[since:]
    assert [one.event for one in told] == ["Note Hook"] * 3
    assert len({one.headers["X-Gitlab-Event-UUID"] for one in told}) == 1
    assert len({one.guid for one in told}) == 3
    first = json.loads(told[0].body)["object_attributes"]
    assert (first["type"], first["position"]["new_line"]) == ("DiffNote", 1)


def test_a_pipeline_that_fails_is_told_of(fake: FakeGitLab) -> None:
    propose(fake)
    fake.run_pipeline(REPO, "topic", [Report(name="unit", trace="E: no")], "alice")
    told = last(fake)
    assert told["object_attributes"]["status"] == "failed"
    assert told["merge_request"]["iid"] == 1
    assert [one["failure_reason"] for one in told["builds"]] == ["script_failure"]


def test_a_branch_that_is_deleted_is_told_of(fake: FakeGitLab) -> None:
    propose(fake)
    fake.delete_branch(REPO, "topic", "alice")
    assert (last(fake)["after"], last(fake)["checkout_sha"]) == ("0" * 40, None)
    [seen] = fake.merge_requests(REPO)
    assert seen.is_open


def test_only_the_hooks_of_the_server_hear_of_another_name(fake: FakeGitLab) -> None:
    fake.add_system_hook(TOKEN)
    fake.move_project(REPO, "top/sub/shop", "alice")
    fake.move_project("top/sub/shop", "top/shop", "alice")
    told = [json.loads(one.body) for one in fake.deliveries]
    assert [one["event_name"] for one in told] == ["project_rename", "project_transfer"]
    assert told[1]["old_path_with_namespace"] == "top/sub/shop"
    fake.open_issue("top/shop", "alice", "Wrong sum", "")
    assert last(fake)["project"]["path_with_namespace"] == "top/shop"


def issue_labelled(fake: FakeGitLab) -> None:
    fake.open_issue(REPO, "alice", "Wrong sum", "", labels=["bug"])
    fake.assign(REPO, 1, ["bob"], "alice")
    fake.label(REPO, 1, "urgent", "bob")


def issue_noted(fake: FakeGitLab) -> None:
    fake.open_issue(REPO, "alice", "Wrong sum", "", labels=["bug"])
    fake.comment(REPO, 1, "bob", "Please.")


def issue_awarded(fake: FakeGitLab) -> None:
    fake.open_issue(REPO, "alice", "Wrong sum", "")
    fake.award(REPO, 1, "bob", "thumbsdown")


def merge_labelled(fake: FakeGitLab) -> None:
    propose(fake)
    fake.request_review(REPO, 1, ["bob"], "alice")
    fake.assign(REPO, 1, ["bob"], "alice", MERGE_REQUEST)
    fake.label(REPO, 1, "urgent", "bob", MERGE_REQUEST)


def merge_noted(fake: FakeGitLab) -> None:
    propose(fake)
    fake.assign(REPO, 1, ["bob"], "alice", MERGE_REQUEST)
    fake.label(REPO, 1, "urgent", "bob", MERGE_REQUEST)
    fake.comment(REPO, 1, "bob", "Please.", kind=MERGE_REQUEST)


def merge_awarded(fake: FakeGitLab) -> None:
    propose(fake)
    fake.award(REPO, 1, "bob", "thumbsup", kind=MERGE_REQUEST)


def pipeline_failed(fake: FakeGitLab) -> None:
    propose(fake)
    fake.run_pipeline(REPO, "topic", [Report(name="unit")], "alice")


def pushed(fake: FakeGitLab) -> None:
    fake.commit_files(REPO, "topic", {"b.txt": "b\n"}, author="alice")


RECORDED: dict[str, Callable[[FakeGitLab], None]] = {
    "issue": issue_labelled,
    "note_issue": issue_noted,
    "emoji_revoke_issue": issue_awarded,
    "merge_request": merge_labelled,
    "note_merge_request": merge_noted,
    "emoji_award_merge_request": merge_awarded,
    "pipeline": pipeline_failed,
    "push": pushed,
}


@pytest.mark.parametrize("name", RECORDED)
def test_a_body_is_like_the_recorded_one(fake: FakeGitLab, name: str) -> None:
    RECORDED[name](fake)
    ours = last(fake)
    folder = corpus()
    # Without outside payloads it is held against itself.
    recorded = folder and (folder / f"gitlab/webhooks/{name}.json").read_text()
    real = json.loads(recorded) if recorded else ours
    assert differences(real, ours, name) == []
    gone = OLD[ours["object_kind"]]
    for part in real.keys() - gone:
        theirs, own = real[part], ours[part]
        # What changed is another thing each time.
        if part != "changes" and isinstance(theirs, dict) and own is not None:
            assert theirs.keys() - gone <= own.keys(), part


@dataclass
class Receiver:
    """Takes what is delivered to it, and answers with `status`."""

    url: str = ""
    status: int = 200
    took: list[str] = field(default_factory=list)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    found = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            found.took.append(self.headers["Idempotency-Key"])
            self.send_response(found.status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Stay quiet."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        found.url = f"http://127.0.0.1:{server.server_port}/hook"
        yield found
        server.shutdown()
        thread.join()


def test_what_failed_can_be_sent_again(fake: FakeGitLab, receiver: Receiver) -> None:
    boss = Caller(fake, fake.add_user("alice"))
    listen_at(fake.world, receiver.url)
    receiver.status = 503
    fake.open_issue(REPO, "alice", "Wrong sum", "")
    told: Delivery = fake.deliveries[-1]
    assert bring(fake.world, told) == "503"
    [hook] = fake.world.hooks
    events_of = f"/projects/{fake.world.project(REPO).id}/hooks/{hook}/events"
    [failed] = boss.ask("GET", f"{events_of}?status=server_failure").body
    assert failed["trigger"] == "issue_hooks"
    assert failed["request_headers"]["X-Gitlab-Token"] == "[REDACTED]"
    assert failed["request_headers"]["Idempotency-Key"] == told.guid
    receiver.status = 200
    again_ = boss.ask("POST", f"{events_of}/{failed['id']}/resend")
    assert (again_.status, again_.body) == (201, {"response_status": "200"})
    assert receiver.took == [told.guid, told.guid]


def test_a_hook_is_managed_through_the_api(fake: FakeGitLab) -> None:
    boss = Caller(fake, fake.add_user("alice"))
    hooks = f"/projects/{fake.world.project(REPO).id}/hooks"
    wrong = {"url": "https://bot.test", "signing_token": "whsec_short"}
    assert boss.ask("POST", hooks, wrong).status == 422
    right = {**wrong, "signing_token": SIGNING, "token": TOKEN, "note_events": True}
    made = boss.ask("POST", hooks, right).body
    assert (made["token_present"], made["signing_token_present"]) == (True, True)
    assert (made["note_events"], made["issues_events"]) == (True, False)
    assert "signing_token" not in made
    worker = Caller(fake, fake.add_user("carol"))
    fake.grant(REPO, "carol", Level.DEVELOPER)
    assert worker.ask("GET", hooks).status == 403
    fake.open_issue(REPO, "alice", "Wrong sum", "")
    fake.comment(REPO, 1, "alice", "Please.")
    assert events(fake) == ["Issue Hook: open", *["Note Hook: create"] * 2]
    assert boss.ask("DELETE", f"{hooks}/{made['id']}").status == 204


def test_an_address_that_nobody_listens_at_is_a_failure(fake: FakeGitLab) -> None:
    listen_at(fake.world, "http://127.0.0.1:9/hook")
    fake.open_issue(REPO, "alice", "Wrong sum", "")
    assert bring(fake.world, replace(fake.deliveries[-1])) == "internal error"
