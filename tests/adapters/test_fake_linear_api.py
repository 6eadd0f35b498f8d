"""The fake Linear answers questions, and says no as Linear does."""

from collections.abc import Iterator

import pytest

from tests.fakes.clock import FakeClock
from tests.fakes.linear.client import Program, of_app, of_person, send
from tests.fakes.linear.fake import FakeLinear
from tests.fakes.linear.limits import MAX_POINTS, REQUESTS_AN_HOUR

ISSUE = """
query($id: String!) {
  issue(id: $id) {
    id identifier title description branchName url previousIdentifiers
    state { name type } team { key } labels { nodes { name } }
    creator { name } assignee { name } delegate { name app } parent { identifier }
    comments { nodes { body } } attachments { nodes { url sourceType } }
    relations { nodes { type relatedIssue { identifier } } }
    inverseRelations { nodes { type issue { identifier } } }
    children { nodes { identifier } } integrationSourceType
  }
}"""
SHOWN = {
    "identifier": "ENG-3",
    "title": "Wrong sum!",
    "description": "Off by one.",
    "branchName": "patchwright/eng-3-wrong-sum",
    "url": "LINEAR/acme/issue/ENG-3/wrong-sum",
    "previousIdentifiers": [],
    "state": {"name": "Todo", "type": "unstarted"},
    "team": {"key": "ENG"},
    "labels": {"nodes": [{"name": "Bug"}]},
    "creator": {"name": "Ann Lee"},
    "assignee": {"name": "Ann Lee"},
    "delegate": {"name": "Patchwright", "app": True},
    "parent": {"identifier": "ENG-1"},
    "comments": {
        "nodes": [{"body": "This thread is for an agent session with patchwright."}]
    },
    "attachments": {
        "nodes": [
            {
                "url": "https://github.com/acme/shop/issues/4",
                "sourceType": "github",
            }
        ]
    },
    "relations": {
        "nodes": [{"type": "blocks", "relatedIssue": {"identifier": "ENG-2"}}]
    },
    "inverseRelations": {"nodes": []},
    "children": {"nodes": []},
    "integrationSourceType": "github",
}
LIST = """
query($filter: IssueFilter, $first: Int, $after: String, $orderBy: PaginationOrderBy) {
  issues(filter: $filter, first: $first, after: $after, orderBy: $orderBy) {
    nodes { identifier } pageInfo { hasNextPage hasPreviousPage endCursor }
  }
}"""


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def linear(clock: FakeClock) -> Iterator[FakeLinear]:
    with FakeLinear(clock=clock) as fake:
        fake.add_team("ENG", "Engineering")
        yield fake


@pytest.fixture
def ann(linear: FakeLinear) -> str:
    return linear.add_user("ann", "Ann Lee", admin=True)


def listed(program: Program, **asked: object) -> list[str]:
    reply = program.ask(LIST, **asked)
    assert not reply.errors
    return [one["identifier"] for one in reply.data["issues"]["nodes"]]


def test_an_issue_is_shown_with_all_around_it(linear: FakeLinear, ann: str) -> None:
    epic = linear.create("ENG", ann, "The shop")
    other = linear.create("ENG", ann, "Tax")
    key = linear.create("ENG", ann, "Wrong sum!", "Off by one.", parent=epic)
    linear.label(key, ann, "Bug")
    linear.assign(key, ann, ann)
    linear.delegate(key, ann, linear.bot)
    linear.relate(key, other, "blocks")
    linear.sync(key, ann, "https://github.com/acme/shop/issues/4")
    reply = of_app(linear).ask(ISSUE, id=key)
    shown = reply.data["issue"]
    assert shown.pop("id") == linear.issue(key).id
    shown["url"] = shown["url"].replace(linear.api_url, "LINEAR")
    assert shown == SHOWN


def test_a_moved_issue_is_found_by_its_old_identifier(
    linear: FakeLinear, ann: str
) -> None:
    linear.add_team("OPS")
    key = linear.create("ENG", ann, "Wrong sum", labels=["Bug"])
    assert linear.move_to_team(key, ann, "OPS") == "OPS-1"
    shown = of_app(linear).ask(ISSUE, id="ENG-1").data["issue"]
    assert (shown["identifier"], shown["team"]["key"]) == ("OPS-1", "OPS")
    assert shown["previousIdentifiers"] == ["ENG-1"]
    assert shown["state"] == {"name": "Todo", "type": "unstarted"}
    # The label was one of the other team.
    assert shown["labels"]["nodes"] == []


def test_the_history_tells_who_changed_what(linear: FakeLinear, ann: str) -> None:
    key = linear.create("ENG", ann, "Wrong sum", labels=["Bug"])
    linear.label(key, ann, "patchwright")
    linear.unlabel(key, ann, "Bug")
    linear.edit(key, ann, description="Off by one.")
    linear.transition(key, ann, "In Progress")
    document = """query($id: String!) { issue(id: $id) { history { nodes {
      actor { name } addedLabels { name } removedLabels { name } updatedDescription
      descriptionUpdatedBy { name } fromState { name } toState { name } } } } }"""
    shown = of_app(linear).ask(document, id=key).data["issue"]["history"]["nodes"]
    told = [{k: v for k, v in one.items() if v is not None} for one in shown]
    who = {"actor": {"name": "Ann Lee"}}
    assert told == [
        {**who, "fromState": {"name": "Todo"}, "toState": {"name": "In Progress"}},
        {
            **who,
            "updatedDescription": True,
            "descriptionUpdatedBy": [{"name": "Ann Lee"}],
        },
        {**who, "removedLabels": [{"name": "Bug"}]},
        {**who, "addedLabels": [{"name": "patchwright"}]},
    ]


def test_lists_are_filtered(linear: FakeLinear, ann: str) -> None:
    sum_, tax = (
        linear.create("ENG", ann, title, labels=labels)
        for title, labels in (("Wrong sum", ["Bug"]), ("Tax", []))
    )
    linear.transition(tax, ann, "In Progress")
    linear.assign(sum_, ann, ann)
    program = of_app(linear)

    def found(**wanted: object) -> list[str]:
        return listed(program, filter=wanted)

    assert found(labels={"name": {"eq": "Bug"}}) == [sum_]
    assert found(labels={"some": {"name": {"in": ["Bug"]}}}) == [sum_]
    assert found(state={"type": {"nin": ["started"]}}) == [sum_]
    assert found(assignee={"null": True}) == [tax]
    assert found(assignee={"email": {"eq": "ann@example.com"}}) == [sum_]
    assert found(id={"in": [tax]}) == [tax]
    assert found(number={"gt": 1.0}) == [tax]
    assert found(title={"containsIgnoreCase": "SUM"}) == [sum_]
    assert found(team={"key": {"eq": "OPS"}}) == []
    either = [{"title": {"eq": "Tax"}}, {"labels": {"name": {"eq": "Bug"}}}]
    assert {*found(**{"or": either})} == {sum_, tax}
    assert found(**{"and": either}) == []


def test_the_newest_is_first_and_pages_go_on_from_a_cursor(
    linear: FakeLinear, ann: str, clock: FakeClock
) -> None:
    keys = []
    for number in range(3):
        keys.append(linear.create("ENG", ann, f"Number {number}"))
        clock.advance(60)
    program = of_app(linear)
    first = program.ask(LIST, first=2).data["issues"]
    assert [one["identifier"] for one in first["nodes"]] == [keys[2], keys[1]]
    assert first["pageInfo"]["hasNextPage"]
    last = program.ask(LIST, first=2, after=first["pageInfo"]["endCursor"])
    assert [one["identifier"] for one in last.data["issues"]["nodes"]] == [keys[0]]
    assert last.data["issues"]["pageInfo"]["hasNextPage"] is False
    since = "2030-01-01T12:00:30.000Z"
    linear.edit(keys[0], ann, title="Changed")
    assert listed(program, orderBy="updatedAt") == [keys[0], keys[2], keys[1]]
    assert listed(program, filter={"createdAt": {"gt": since}}) == [keys[2], keys[1]]
    assert program.ask(LIST, first=251).code == "INVALID_INPUT"


def test_what_is_archived_is_hidden_from_lists(linear: FakeLinear, ann: str) -> None:
    key = linear.create("ENG", ann, "Old")
    linear.archive(key, ann)
    program = of_app(linear)
    assert listed(program) == []
    assert program.ask(ISSUE, id=key).data["issue"]["title"] == "Old"
    every = program.ask("{ issues(includeArchived: true) { nodes { identifier } } }")
    assert every.data["issues"]["nodes"] == [{"identifier": key}]


def test_a_private_team_is_not_there_for_others(linear: FakeLinear, ann: str) -> None:
    linear.add_team("SEC", members=[ann])
    key = linear.create("SEC", ann, "A leak")
    refused = of_app(linear).ask(ISSUE, id=key)
    assert (refused.status, refused.code) == (200, "INPUT_ERROR")
    assert refused.errors[0]["message"] == "Entity not found: Issue"
    assert refused.words == "Could not find referenced Issue."
    assert listed(of_person(linear, ann)) == [key]
    linear.admit("SEC")
    assert listed(of_app(linear)) == [key]
    linear.admit("SEC", admitted=False)
    assert listed(of_app(linear)) == []


def test_another_workspace_is_another_world(linear: FakeLinear, ann: str) -> None:
    key = linear.create("ENG", ann, "Wrong sum")
    foreign = linear.scene.add_workspace("globex")
    eve = linear.scene.add_user(foreign, "eve")
    program = of_person(linear, eve)
    shown = program.ask("{ organization { urlKey } users { nodes { name } } }").data
    assert shown == {
        "organization": {"urlKey": "globex"},
        "users": {"nodes": [{"name": "Eve"}]},
    }
    assert program.ask(ISSUE, id=linear.issue(key).id).code == "INPUT_ERROR"


def test_a_caller_is_known_by_key_or_token(
    linear: FakeLinear, ann: str, clock: FakeClock
) -> None:
    who = "{ viewer { id name app isMe } }"
    as_app = of_app(linear).ask(who).data["viewer"]
    assert (as_app["id"], as_app["app"]) == (linear.bot, True)
    assert of_person(linear, ann).ask(who).data["viewer"]["name"] == "Ann Lee"
    unknown = Program(linear.api_url, "Bearer nobody").ask(who)
    assert (unknown.status, unknown.code) == (401, "AUTHENTICATION_ERROR")
    assert Program(linear.api_url, "").ask(who).status == 401
    mixed = Program(linear.api_url, f"Bearer {linear.scene.key_of(ann)}").ask(who)
    assert (mixed.status, mixed.code) == (400, "AUTHENTICATION_ERROR")
    assert "Remove the Bearer prefix" in mixed.words
    clock.advance(24 * 3600)
    assert of_app(linear).ask(who).status == 401


def test_what_cannot_be_read_is_refused_as_a_whole(linear: FakeLinear) -> None:
    program = of_app(linear)
    assert program.ask("{ viewer {").code == "GRAPHQL_PARSE_FAILED"
    unknown = program.ask("{ viewer { shoeSize } }")
    assert (unknown.status, unknown.code) == (400, "GRAPHQL_VALIDATION_FAILED")
    missing = program.ask(ISSUE)
    assert (missing.status, missing.code) == (400, "BAD_USER_INPUT")


def test_each_answer_tells_how_much_is_left(linear: FakeLinear) -> None:
    headers = of_app(linear).ask("{ viewer { id name } }").headers
    told = {name: headers[name] for name in headers if name.startswith("x-")}
    assert told == {
        "x-complexity": "2",
        "x-ratelimit-requests-limit": "5000",
        "x-ratelimit-requests-remaining": "4999",
        "x-ratelimit-requests-reset": "1893499200720",
        "x-ratelimit-complexity-limit": "2000000",
        "x-ratelimit-complexity-remaining": "1999998",
        "x-ratelimit-complexity-reset": "1893499200003",
    }


def test_who_asks_too_often_waits_until_the_bucket_fills(
    linear: FakeLinear, clock: FakeClock
) -> None:
    linear.exhaust()
    refused = of_app(linear).ask("{ viewer { id } }")
    assert (refused.status, refused.code) == (400, "RATELIMITED")
    assert refused.headers["X-RateLimit-Requests-Remaining"] == "0"
    clock.advance(3600 / REQUESTS_AN_HOUR)
    assert of_app(linear).ask("{ viewer { id } }").status == 200


def test_a_query_for_too_much_is_refused(linear: FakeLinear) -> None:
    inner = "comments(first: 250) { nodes { body user { name } } }"
    reply = of_app(linear).ask(f"{{ issues(first: 100) {{ nodes {{ {inner} }} }} }}")
    assert reply.status == 400
    assert f"at most {MAX_POINTS} allowed" in reply.errors[0]["message"]


def test_repositories_are_suggested_among_the_candidates(
    linear: FakeLinear, ann: str
) -> None:
    key = linear.create("ENG", ann, "Wrong sum")
    linear.suggest(key, acme__shop=0.9, acme__tax=0.4, acme__hidden=1.0)
    document = """query($id: String!, $among: [CandidateRepository!]!) {
      issueRepositorySuggestions(issueId: $id, candidateRepositories: $among) {
        suggestions { repositoryFullName hostname confidence } } }"""
    among = [
        {"hostname": "github.com", "repositoryFullName": name}
        for name in ("acme/tax", "acme/shop", "acme/site")
    ]
    reply = of_app(linear).ask(document, id=key, among=among)
    suggested = reply.data["issueRepositorySuggestions"]["suggestions"]
    assert [(one["repositoryFullName"], one["confidence"]) for one in suggested] == [
        ("acme/shop", 0.9),
        ("acme/tax", 0.4),
    ]


def test_a_failure_can_be_ordered_by_what_is_asked(linear: FakeLinear) -> None:
    linear.fail_next("POST", "viewer", 503)
    program = of_app(linear)
    assert program.ask("{ organization { id } }").status == 200
    assert program.ask("{ viewer { id } }").status == 503
    assert program.ask("{ viewer { id } }").status == 200


def test_an_unknown_address_is_not_there(linear: FakeLinear) -> None:
    assert send("GET", f"{linear.api_url}/nowhere")[0] == 404
