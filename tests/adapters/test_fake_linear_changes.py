"""Programs change things in the fake Linear, and are refused as Linear refuses them."""

import uuid
from collections.abc import Iterator

import pytest

from tests.fakes.clock import FakeClock
from tests.fakes.linear.client import Program, of_app, of_person, send
from tests.fakes.linear.fake import FakeLinear
from tests.fakes.linear.scene import SCOPES
from tests.fakes.linear.state import Label, Team, WorkflowState

OWN_ID = "0b1d9c52-44a6-4b6e-9d38-0f8d4f6f3c11"


@pytest.fixture
def linear() -> Iterator[FakeLinear]:
    with FakeLinear(clock=FakeClock()) as fake:
        fake.add_team("ENG", "Engineering")
        yield fake


@pytest.fixture
def ann(linear: FakeLinear) -> str:
    return linear.add_user("ann", "Ann Lee", admin=True)


@pytest.fixture
def key(linear: FakeLinear, ann: str) -> str:
    return linear.create("ENG", ann, "Wrong sum", "Off by one.")


@pytest.fixture
def program(linear: FakeLinear) -> Program:
    return of_app(linear)


def update(program: Program, key: str, **asked: object) -> Program:
    document = """mutation($id: String!, $input: IssueUpdateInput!) {
      issueUpdate(id: $id, input: $input) { success issue { updatedAt } } }"""
    reply = program.ask(document, id=key, input=asked)
    assert not reply.errors, reply.words
    return program


def refused(program: Program, key: str, **asked: object) -> str:
    document = """mutation($id: String!, $input: IssueUpdateInput!) {
      issueUpdate(id: $id, input: $input) { success } }"""
    return program.ask(document, id=key, input=asked).words


def test_a_comment_has_the_id_that_its_author_chose(
    linear: FakeLinear, program: Program, key: str
) -> None:
    asked = {"id": OWN_ID, "issueId": key, "body": "Working."}
    assert not program.change("commentCreate", asked).errors
    [made] = linear.comments(key)
    assert (made.id, made.user, made.body) == (OWN_ID, linear.bot, "Working.")
    again = program.change("commentCreate", asked)
    assert (again.status, again.code) == (200, "INPUT_ERROR")
    assert again.words == "There is already a Comment with that id."
    assert len(linear.comments(key)) == 1


def test_the_id_of_what_is_deleted_stays_taken(
    linear: FakeLinear, program: Program, key: str, ann: str
) -> None:
    asked = {"id": OWN_ID, "issueId": key, "body": "Working."}
    program.change("commentCreate", asked)
    linear.delete_comment(OWN_ID, ann)
    read = program.ask(f'{{ comment(id: "{OWN_ID}") {{ body }} }}')
    assert read.errors[0]["message"] == "Entity not found: Comment"
    assert program.change("commentCreate", asked).code == "INPUT_ERROR"


@pytest.mark.parametrize("wrong", ["7", str(uuid.uuid5(uuid.NAMESPACE_URL, "x"))])
def test_an_id_is_a_uuid_of_version_4(program: Program, key: str, wrong: str) -> None:
    asked = {"id": wrong, "issueId": key, "body": "Working."}
    reply = program.change("commentCreate", asked)
    assert reply.code == "INVALID_INPUT"
    assert reply.words == "id: id must be a UUID of version 4"


def test_comments_are_edited_and_deleted_by_their_authors(
    linear: FakeLinear, program: Program, key: str, ann: str
) -> None:
    edit = """mutation($id: String!, $body: String!) {
      commentUpdate(id: $id, input: {body: $body}) { comment { body editedAt } } }"""
    own = linear.comment(key, linear.bot, "Working.")
    shown = program.ask(edit, id=own, body="Done.").data["commentUpdate"]["comment"]
    assert shown == {"body": "Done.", "editedAt": "2030-01-01T12:00:00.000Z"}
    others = linear.comment(key, ann, "Please hurry.")
    assert program.ask(edit, id=others, body="No.").code == "FORBIDDEN"
    assert program.ask(edit, id=own, body=" ").words == "body: body should not be empty"
    delete = "mutation($id: String!) { commentDelete(id: $id) { success } }"
    assert program.ask(delete, id=others).code == "FORBIDDEN"
    assert program.ask(delete, id=own).data["commentDelete"]["success"]
    assert [one.body for one in linear.comments(key)] == ["Please hurry."]


def test_an_answer_to_an_answer_is_in_the_same_thread(
    linear: FakeLinear, program: Program, key: str, ann: str
) -> None:
    root = linear.comment(key, ann, "Off by one.")
    reply = linear.comment(key, ann, "Or by two.", parent=root)
    program.change("commentCreate", {"parentId": reply, "body": "By one."})
    assert linear.comments(key)[-1].parent == root
    nowhere = program.change("commentCreate", {"body": "By one."})
    assert nowhere.words == "issueId: a comment needs an issue or a parent"


def test_only_an_app_names_somebody_beside_itself(
    linear: FakeLinear, program: Program, key: str, ann: str
) -> None:
    asked = {"issueId": key, "body": "Hello.", "createAsUser": "Zoe"}
    assert not program.change("commentCreate", asked).errors
    assert linear.comments(key)[0].created_as == "Zoe"
    reply = of_person(linear, ann).change("commentCreate", asked)
    assert reply.words == "createAsUser: it can be used with actor=app alone"


def test_an_issue_moves_to_states_of_its_own_team(
    linear: FakeLinear, program: Program, key: str
) -> None:
    linear.add_team("OPS")
    states = linear.world.all(WorkflowState)
    [team] = [one for one in linear.world.all(Team) if one.key == "ENG"]
    started = [one for one in states if one.type == "started"]
    own = min(
        (one for one in started if one.team == team.id), key=lambda one: one.position
    )
    foreign = next(one for one in started if one.team != team.id)
    update(program, key, stateId=own.id)
    assert linear.state(key) == "In Progress"
    assert linear.issue(key).started == linear.world.clock.now()
    words = refused(program, key, stateId=foreign.id)
    assert words == "stateId: the state belongs to another team"
    linear.transition(key, linear.bot, "Done")
    assert linear.been_in(key) == ["In Progress", "Done"]
    assert linear.issue(key).completed == linear.world.clock.now()


def test_labels_are_added_and_removed_one_by_one(
    linear: FakeLinear, program: Program, key: str, ann: str
) -> None:
    for name in ("Bug", "patchwright"):
        linear.label(key, ann, name)
    bug, own = (one.id for one in linear.world.all(Label))
    change = "(id: $id, labelId: $label) { success issue { labelIds } } }"
    head = "mutation($id: String!, $label: String!)"
    program.ask(f"{head} {{ issueRemoveLabel{change}", id=key, label=own)
    assert linear.labels(key) == ["Bug"]
    program.ask(f"{head} {{ issueAddLabel{change}", id=key, label=own)
    assert linear.labels(key) == ["Bug", "patchwright"]
    update(program, key, removedLabelIds=[bug])
    assert linear.labels(key) == ["patchwright"]
    update(program, key, labelIds=[bug], addedLabelIds=[own])
    assert linear.labels(key) == ["Bug", "patchwright"]


def test_agents_are_delegates_and_people_assignees(
    linear: FakeLinear, program: Program, key: str, ann: str
) -> None:
    update(program, key, delegateId=linear.bot, assigneeId=ann)
    assert (linear.issue(key).delegate, linear.issue(key).assignee) == (linear.bot, ann)
    assert refused(program, key, delegateId=ann) == "delegateId: it must be an agent"
    assert refused(program, key, assigneeId=linear.bot) == (
        "assigneeId: it must be a person"
    )
    linear.token.scopes = SCOPES - {"app:assignable"}
    update(program, key, delegateId=None)
    words = refused(program, key, delegateId=linear.bot)
    assert words == "delegateId: the app is not assignable"


def test_an_address_is_attached_once(
    linear: FakeLinear, program: Program, key: str
) -> None:
    asked = {"issueId": key, "url": "https://github.com/acme/shop/pull/1"}
    program.change("attachmentCreate", {**asked, "title": "Draft"})
    program.change(
        "attachmentCreate", {**asked, "title": "Ready", "subtitle": "Count pieces"}
    )
    [link] = linear.attachments(key)
    assert (link.title, link.subtitle) == ("Ready", "Count pieces")
    wrong = program.change(
        "attachmentCreate", {"issueId": key, "url": "javascript:1", "title": "x"}
    )
    assert wrong.words == "url: url must be a URL address"
    linked = program.ask(
        """mutation($id: String!, $url: String!) {
          attachmentLinkGitHubPR(issueId: $id, url: $url) {
            attachment { sourceType } } }""",
        id=key,
        url="https://github.com/acme/shop/pull/2",
    )
    shown = linked.data["attachmentLinkGitHubPR"]["attachment"]
    assert shown == {"sourceType": "github"}
    found = program.ask(
        "query($url: String!) { attachmentsForURL(url: $url) "
        "{ nodes { issue { identifier } } } }",
        url=asked["url"],
    )
    assert found.data["attachmentsForURL"]["nodes"] == [{"issue": {"identifier": key}}]


def test_scopes_say_what_an_app_may_do(
    linear: FakeLinear, program: Program, key: str
) -> None:
    linear.token.scopes = frozenset({"read", "comments:create"})
    asked = {"issueId": key, "body": "Hello."}
    assert not program.change("commentCreate", asked).errors
    reply = program.change("reactionCreate", {"issueId": key, "emoji": "eyes"})
    assert (reply.code, reply.words) == ("FORBIDDEN", "Invalid scope: `write` required")


def test_a_program_opens_an_issue(linear: FakeLinear, program: Program) -> None:
    [team] = linear.world.all(Team)
    asked = {"teamId": team.id, "title": "Tax", "id": OWN_ID}
    reply = program.change("issueCreate", asked, "issue { id identifier }")
    shown = reply.data["issueCreate"]["issue"]
    assert shown == {"id": OWN_ID, "identifier": "ENG-1"}
    assert program.change("issueCreate", asked).code == "INPUT_ERROR"
    empty = program.change("issueCreate", {"teamId": team.id})
    assert empty.words == "title: title should not be empty"


def test_files_are_read_with_the_key_alone(linear: FakeLinear, ann: str) -> None:
    address = linear.upload(ann, ("sum.png", "image/png", b"\x89PNG"))
    own = {"Authorization": f"Bearer {linear.token.access}"}
    assert send("GET", address)[0] == 401
    status, headers, body = send("GET", address, headers=own)
    assert (status, headers["content-type"], body) == (200, "image/png", b"\x89PNG")
    foreign = linear.scene.add_user(linear.scene.add_workspace("globex"), "eve")
    other = {"Authorization": linear.scene.key_of(foreign)}
    assert send("GET", address, headers=other)[0] == 404


def test_a_file_is_announced_and_then_put(program: Program) -> None:
    document = """mutation($size: Int!) {
      fileUpload(contentType: "image/png", filename: "a.png", size: $size) {
        uploadFile { assetUrl uploadUrl headers { key value } } } }"""
    found = program.ask(document, size=4).data["fileUpload"]["uploadFile"]
    own = {"Authorization": program.authorization}
    assert send("GET", found["assetUrl"], headers=own)[0] == 404
    wrong = {"Content-Type": "text/html"}
    assert send("PUT", found["uploadUrl"], b"\x89PNG", wrong)[0] == 403
    right = {"Content-Type": "image/png"}
    assert send("PUT", found["uploadUrl"], b"\x89PNG", right)[0] == 200
    assert send("GET", found["assetUrl"], headers=own)[2] == b"\x89PNG"
    assert program.ask(document, size=50_000_001).code == "INVALID_INPUT"
