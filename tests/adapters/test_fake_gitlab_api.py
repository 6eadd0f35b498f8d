"""The API of the fake GitLab: who may see and do what, and how it says no."""

from collections.abc import Iterator
from datetime import date
from typing import Any

import gitlab
import pytest

from tests.fakes.gitlab import FakeGitLab, Level, Visibility
from tests.fakes.gitlab.clients import Caller, python_gitlab
from tests.flow.clock import MovableClock

REPO = "top/sub/app"
TITLE = {"title": "Wrong sum"}


@pytest.fixture
def fake() -> Iterator[FakeGitLab]:
    with FakeGitLab() as server:
        server.add_user("root", admin=True)
        server.add_project(REPO, files={"a.txt": "a\n"}, visibility=Visibility.PRIVATE)
        yield server


def user(fake: FakeGitLab, name: str, level: Level, where: str = REPO) -> Caller:
    token = fake.add_user(name)
    fake.grant(where, name, level)
    return Caller(fake, token)


def home(fake: FakeGitLab, path: str = REPO) -> str:
    return f"/projects/{fake.world.project(path).id}"


def test_a_bad_credential_is_refused_as_there(fake: FakeGitLab) -> None:
    said = Caller(fake, "nonsense").ask("GET", "/user")
    assert (said.status, said.body) == (401, {"message": "401 Unauthorized"})
    assert Caller(fake).ask("GET", "/user").status == 401


def test_an_expired_and_a_revoked_token_say_so(fake: FakeGitLab) -> None:
    old = fake.add_user("old", expires_on=date(2020, 1, 1))
    said = Caller(fake, old).ask("GET", "/user")
    assert said.status == 401
    assert said.body["error"] == "invalid_token"
    assert said.body["error_description"].startswith("Token is expired.")
    gone = fake.add_user("gone")
    fake.revoke(gone)
    said = Caller(fake, gone).ask("GET", "/user")
    assert said.body["error_description"].startswith("Token was revoked.")


def test_a_token_does_no_more_than_its_scopes(fake: FakeGitLab) -> None:
    token = fake.add_user("alice", scopes=["read_api"])
    fake.grant(REPO, "alice", Level.OWNER)
    reader = Caller(fake, token)
    assert reader.ask("GET", home(fake)).status == 200
    said = reader.ask("POST", f"{home(fake)}/issues", TITLE)
    assert (said.status, said.body["error"]) == (403, "insufficient_scope")
    only_git = Caller(fake, fake.add_user("bob", scopes=["write_repository"]))
    assert only_git.ask("GET", "/user").status == 403
    assert only_git.ask("GET", "/personal_access_tokens/self").status == 200


def test_both_headers_name_the_caller(fake: FakeGitLab) -> None:
    token = fake.add_user("alice")
    bearer = Caller(fake, headers={"Authorization": f"Bearer {token}"})
    assert bearer.ask("GET", "/user").body["username"] == "alice"
    assert Caller(fake, token).ask("GET", "/user").body["username"] == "alice"


def test_a_blocked_person_gets_nowhere(fake: FakeGitLab) -> None:
    alice = user(fake, "alice", Level.OWNER)
    fake.block("alice")
    assert alice.ask("GET", "/user").status == 403


def test_what_is_private_is_not_there_for_others(fake: FakeGitLab) -> None:
    eve = Caller(fake, fake.add_user("eve"))
    said = eve.ask("GET", "/projects/top%2Fsub%2Fapp")
    assert (said.status, said.body) == (404, {"message": "404 Project Not Found"})
    assert Caller(fake).ask("GET", home(fake)).status == 404


def test_internal_projects_are_for_those_who_belong_here(fake: FakeGitLab) -> None:
    fake.add_project("top/inner", visibility=Visibility.INTERNAL)
    where = home(fake, "top/inner")
    assert Caller(fake).ask("GET", where).status == 404
    assert Caller(fake, fake.add_user("eve")).ask("GET", where).status == 200
    guest = fake.add_user("mallory", external=True)
    assert Caller(fake, guest).ask("GET", where).status == 404


def test_membership_of_a_group_is_not_seen_in_the_project(fake: FakeGitLab) -> None:
    alice = user(fake, "alice", Level.MAINTAINER, "top")
    number = fake.world.user("alice").id
    assert alice.ask("GET", f"{home(fake)}/members/{number}").status == 404
    said = alice.ask("GET", f"{home(fake)}/members/all/{number}")
    assert said.body["access_level"] == Level.MAINTAINER
    shown = alice.ask("GET", home(fake)).body["permissions"]
    assert shown["project_access"] is None
    assert shown["group_access"]["access_level"] == Level.MAINTAINER


def test_a_shared_project_lends_at_most_its_level(fake: FakeGitLab) -> None:
    user(fake, "bob", Level.OWNER, "friends/inner")
    fake.share(REPO, "friends/inner", Level.DEVELOPER)
    bob = Caller(fake, fake.add_user("bob"))
    number = fake.world.user("bob").id
    said = bob.ask("GET", f"{home(fake)}/members/all/{number}")
    assert said.body["access_level"] == Level.DEVELOPER
    shown = bob.ask("GET", home(fake)).body["permissions"]
    assert shown == {"project_access": None, "group_access": None}


def test_a_project_token_is_of_a_bot_and_ends_with_its_project(
    fake: FakeGitLab,
) -> None:
    fake.add_project("top/other", visibility=Visibility.PRIVATE)
    token, name = fake.add_project_token(REPO)
    bot = Caller(fake, token)
    assert name.startswith(f"project_{fake.world.project(REPO).id}_bot_")
    assert bot.ask("GET", "/user").body["bot"] is True
    assert bot.ask("GET", home(fake)).status == 200
    assert bot.ask("GET", home(fake, "top/other")).status == 404
    group, _ = fake.add_group_token("top")
    assert Caller(fake, group).ask("GET", home(fake, "top/other")).status == 200


def test_a_renamed_project_redirects_readers_alone(fake: FakeGitLab) -> None:
    alice = user(fake, "alice", Level.OWNER)
    fake.move_project(REPO, "top/sub/shop", "alice")
    said = alice.ask("GET", "/projects/top%2Fsub%2Fapp/issues?state=opened")
    number = fake.world.project("top/sub/shop").id
    there = f"{fake.base_url}/api/v4/projects/{number}/issues?state=opened"
    assert (said.status, said.headers["Location"]) == (301, there)
    said = alice.ask("POST", "/projects/top%2Fsub%2Fapp/issues", TITLE)
    text = "405 Non GET methods are not allowed for moved projects"
    assert (said.status, said.body) == (405, {"message": text})
    assert alice.ask("GET", home(fake, "top/sub/shop")).status == 200


def test_lists_come_in_pages(fake: FakeGitLab) -> None:
    alice = user(fake, "alice", Level.OWNER)
    for number in range(5):
        fake.open_issue(REPO, "alice", f"Number {number}", "")
    said = alice.ask("GET", f"{home(fake)}/issues?per_page=2&page=2")
    assert [one["title"] for one in said.body] == ["Number 2", "Number 1"]
    names = ("X-Next-Page", "X-Prev-Page", "X-Total", "X-Total-Pages")
    assert [said.headers[name] for name in names] == ["3", "1", "5", "3"]
    assert 'page=3>; rel="next"' in said.headers["Link"]
    client = python_gitlab(fake, alice.token)
    issues = client.projects.get(REPO).issues.list(per_page=2, iterator=True)
    assert len(list(issues)) == 5


def test_projects_can_be_read_by_keyset(fake: FakeGitLab) -> None:
    alice = user(fake, "alice", Level.OWNER)
    for name in "bcd":
        fake.add_project(f"top/{name}")
    client = python_gitlab(fake, alice.token)
    found = client.projects.list(
        pagination="keyset", order_by="id", per_page=2, iterator=True
    )
    assert len({one.id for one in found}) == 4


def test_too_many_requests_say_when_to_come_again(fake: FakeGitLab) -> None:
    alice = user(fake, "alice", Level.OWNER)
    fake.limit_next("GET", "/user", retry_after=7)
    said = alice.ask("GET", "/user")
    assert (said.status, said.body) == (429, b"Retry later\n")
    names = ("Retry-After", "RateLimit-Remaining")
    assert [said.headers[name] for name in names] == ["7", "0"]
    assert alice.ask("GET", "/user").headers["RateLimit-Remaining"] == "1999"


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({}, {"error": "title is missing"}),
        ({"title": " "}, {"message": {"title": ["can't be blank"]}}),
        (
            {"title": "x" * 256},
            {"message": {"title": ["is too long (maximum is 255 characters)"]}},
        ),
    ],
)
def test_a_title_has_its_limits(
    fake: FakeGitLab, body: dict[str, str], problem: Any
) -> None:
    alice = user(fake, "alice", Level.OWNER)
    said = alice.ask("POST", f"{home(fake)}/issues", body)
    assert (said.status, said.body) == (400, problem)


def test_labels_that_are_not_there_are_made(fake: FakeGitLab) -> None:
    alice = user(fake, "alice", Level.OWNER)
    made = {**TITLE, "labels": "one,two"}
    alice.ask("POST", f"{home(fake)}/issues", made)
    changed = {"add_labels": "three", "remove_labels": ["one"]}
    said = alice.ask("PUT", f"{home(fake)}/issues/1", changed)
    assert said.body["labels"] == ["three", "two"]
    listed = alice.ask("GET", f"{home(fake)}/labels").body
    assert [one["name"] for one in listed] == ["one", "three", "two"]


def test_a_guest_opens_issues_and_labels_none(fake: FakeGitLab) -> None:
    guest = user(fake, "guest", Level.GUEST)
    said = guest.ask("POST", f"{home(fake)}/issues", {**TITLE, "labels": "one"})
    assert (said.status, said.body["labels"]) == (201, [])
    fake.open_issue(REPO, "root", "Another", "")
    said = guest.ask("PUT", f"{home(fake)}/issues/2", {"title": "Mine"})
    assert (said.status, said.body) == (403, {"message": "403 Forbidden"})


def test_a_note_has_its_limits(fake: FakeGitLab) -> None:
    alice = user(fake, "alice", Level.OWNER)
    fake.open_issue(REPO, "alice", "Wrong sum", "")
    notes = f"{home(fake)}/issues/1/notes"
    assert alice.ask("POST", notes, {"body": "x" * 1_000_000}).status == 201
    said = alice.ask("POST", notes, {"body": "x" * 1_000_001})
    problem = 'Note {:note=>["is too long (maximum is 1000000 characters)"]}'
    assert said.body == {"message": f"400 Bad request - {problem}"}
    assert alice.ask("POST", notes, {}).body == {"error": "body is missing"}
    assert alice.ask("POST", notes, {"body": "\n"}).status == 400


def test_people_change_their_own_notes_alone(fake: FakeGitLab) -> None:
    bob = user(fake, "bob", Level.DEVELOPER)
    user(fake, "alice", Level.DEVELOPER)
    fake.open_issue(REPO, "alice", "Wrong sum", "")
    note = fake.comment(REPO, 1, "alice", "Please.")
    path = f"{home(fake)}/issues/1/notes/{note}"
    assert bob.ask("PUT", path, {"body": "No."}).status == 403
    assert bob.ask("DELETE", path).status == 403


def test_a_locked_discussion_is_for_members(fake: FakeGitLab) -> None:
    fake.add_project("top/open")
    user(fake, "alice", Level.OWNER, "top/open")
    fake.open_issue("top/open", "alice", "Wrong sum", "")
    eve = Caller(fake, fake.add_user("eve"))
    notes = f"{home(fake, 'top/open')}/issues/1/notes"
    assert eve.ask("POST", notes, {"body": "Me too."}).status == 201
    fake.lock("top/open", 1, "alice")
    said = eve.ask("POST", notes, {"body": "Me too."})
    assert (said.status, said.body) == (403, {"message": "403 Forbidden"})


def test_what_is_confidential_is_hidden(fake: FakeGitLab) -> None:
    fake.add_project("top/open")
    alice = user(fake, "alice", Level.REPORTER, "top/open")
    fake.open_issue("top/open", "alice", "Leak", "", confidential=True)
    fake.open_issue("top/open", "alice", "Wrong sum", "")
    fake.comment("top/open", 2, "alice", "Between us.", internal=True)
    eve = Caller(fake, fake.add_user("eve"))
    issues = f"{home(fake, 'top/open')}/issues"
    assert eve.ask("GET", f"{issues}/1").status == 404
    assert [one["iid"] for one in eve.ask("GET", issues).body] == [2]
    assert eve.ask("GET", f"{issues}/2/notes").body == []
    [note] = alice.ask("GET", f"{issues}/2/notes").body
    assert (note["internal"], note["confidential"]) == (True, True)
    told = {"body": "Between us.", "internal": True}
    assert eve.ask("POST", f"{issues}/2/notes", told).status == 403
    answer = {"body": "Understood."}
    [talk] = alice.ask("GET", f"{issues}/2/discussions").body
    path = f"{issues}/2/discussions/{talk['id']}/notes"
    assert alice.ask("POST", path, answer).body["internal"] is True


def test_an_emoji_is_given_once(fake: FakeGitLab) -> None:
    alice = user(fake, "alice", Level.OWNER)
    fake.open_issue(REPO, "alice", "Wrong sum", "")
    note = fake.comment(REPO, 1, "alice", "Please.")
    path = f"{home(fake)}/issues/1/notes/{note}/award_emoji"
    made = alice.ask("POST", path, {"name": "eyes"})
    assert (made.status, made.body["awardable_type"]) == (201, "Note")
    text = "404 Award Emoji Name has already been taken Not Found"
    said = alice.ask("POST", path, {"name": "eyes"})
    assert (said.status, said.body) == (404, {"message": text})
    assert alice.ask("DELETE", f"{path}/{made.body['id']}").status == 204
    assert fake.reactions(REPO, 1, note) == []


def test_uploads_are_read_with_a_token(fake: FakeGitLab) -> None:
    alice = user(fake, "alice", Level.GUEST)
    address = fake.upload(REPO, "cart.png", b"\x89PNG")
    said = alice.ask("GET", f"{home(fake)}{address}")
    assert (said.status, said.body) == (200, b"\x89PNG")
    assert Caller(fake).ask("GET", f"{home(fake)}{address}").status == 404
    eve = Caller(fake, fake.add_user("eve"))
    assert eve.ask("GET", f"{home(fake)}{address}").status == 404
    page = alice.fetch("GET", f"{fake.base_url}/{REPO}{address}")
    # What is for a browser knows no token.
    assert (page.status, page.headers["Location"].rpartition("/")[2]) == (
        302,
        "sign_in",
    )


def test_a_file_is_uploaded_through_the_client(fake: FakeGitLab) -> None:
    alice = user(fake, "alice", Level.GUEST)
    project = python_gitlab(fake, alice.token).projects.get(REPO)
    made = project.upload("cart.png", filedata=b"data")
    assert made["markdown"] == f"![cart.png]({made['url']})"
    assert alice.ask("GET", f"{home(fake)}{made['url']}").body == b"data"


def test_an_issue_moves_with_what_was_said(fake: FakeGitLab) -> None:
    alice = user(fake, "alice", Level.OWNER, "top")
    fake.add_project("top/other")
    fake.open_issue(REPO, "alice", "Wrong sum", "It is wrong.")
    fake.comment(REPO, 1, "alice", "Please.")
    there = fake.world.project("top/other").id
    said = alice.ask("POST", f"{home(fake)}/issues/1/move", {"to_project_id": there})
    assert said.status == 201
    assert [one.body for one in fake.comments("top/other", 1)] == ["Please."]
    left = alice.ask("GET", f"{home(fake)}/issues/1").body
    assert (left["state"], left["moved_to_id"]) == ("closed", said.body["id"])


def test_what_happened_lately_can_be_listed(fake: FakeGitLab) -> None:
    alice = user(fake, "alice", Level.OWNER)
    fake.open_issue(REPO, "root", "Wrong sum", "Do you know, @alice?")
    fake.comment(REPO, 1, "root", "@alice please")
    events = alice.ask("GET", f"{home(fake)}/events").body
    named = [(one["action_name"], one["target_type"]) for one in events]
    assert named == [("commented on", "Note"), ("opened", "Issue")]
    todos = alice.ask("GET", "/todos").body
    assert [one["body"] for one in todos] == ["@alice please", "Wrong sum"]
    everywhere = alice.ask("GET", "/issues?scope=all").body
    assert [one["iid"] for one in everywhere] == [1]


def test_what_has_changed_since_can_be_listed() -> None:
    clock = MovableClock()
    with FakeGitLab(clock=clock) as fake:
        alice = Caller(fake, fake.add_user("alice"))
        fake.add_project("alice/app")
        fake.open_issue("alice/app", "alice", "Wrong sum", "")
        fake.open_issue("alice/app", "alice", "Wrong product", "")
        clock.advance(1)
        fake.comment("alice/app", 1, "alice", "Please.")
        issues = f"{home(fake, 'alice/app')}/issues"
        at = alice.ask("GET", f"{issues}/1").body["updated_at"]
        since = alice.ask("GET", f"{issues}?updated_after={at}").body
        assert [one["iid"] for one in since] == [1]
        assert alice.ask("GET", f"{issues}?updated_after=soon").status == 400


def test_an_ordered_failure_happens_once(fake: FakeGitLab) -> None:
    alice = user(fake, "alice", Level.OWNER)
    fake.fail_next("GET", "/user", 502, body={"message": "502 Bad Gateway"})
    client = python_gitlab(fake, alice.token)
    with pytest.raises(gitlab.GitlabError, match="502"):
        client.auth()
    client.auth()
    assert client.user is not None


def test_an_unknown_path_is_no_endpoint(fake: FakeGitLab) -> None:
    said = Caller(fake, fake.add_user("eve")).ask("GET", "/nothing/here")
    assert (said.status, said.body) == (404, {"error": "404 Not Found"})
