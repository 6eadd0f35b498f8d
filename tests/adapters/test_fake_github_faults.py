"""Failures that the fake GitHub can be told to have, and those it must not have."""

import copy
import json
from collections.abc import Iterator

import pytest
from github import Github, GithubException

from tests.fakes.github.clients import pygithub
from tests.fakes.github.contract import Contract, ContractError
from tests.fakes.github.exchange import Answer, Json, Request
from tests.fakes.github.fake import FakeGitHub
from tests.fakes.github.faults import When

REPO = "acme/shop"
SHAPE = {"type": "object", "required": ["id"]}
# As small a description as can be, for machines without GitHub's own.
DESCRIPTION = {
    "paths": {
        "/things": {
            "post": {
                "requestBody": {
                    "content": {
                        "application/json": {
                            "schema": {"type": "object", "required": ["name"]}
                        }
                    }
                },
                "responses": {
                    "201": {"content": {"application/json": {"schema": SHAPE}}},
                    "204": {"description": "nothing"},
                    "404": {"$ref": "#/components/responses/lost"},
                },
            }
        }
    },
    "components": {
        "responses": {
            "lost": {
                "content": {
                    "application/json": {
                        "schema": {"$ref": "#/components/schemas/basic-error"}
                    }
                }
            }
        },
        "schemas": {
            "basic-error": {
                "type": "object",
                "properties": {
                    "message": {"type": "string"},
                    "status": {"enum": ["404"], "nullable": True},
                },
            }
        },
    },
}


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with FakeGitHub() as fake:
        fake.add_user("alice")
        fake.add_repository(REPO, files={"a.txt": "a\n"})
        fake.open_issue(REPO, "alice", "A bug", "")
        yield fake


@pytest.fixture
def alice(github: FakeGitHub) -> Iterator[Github]:
    with pygithub(github, github.add_user("alice")) as client:
        yield client


def description() -> Contract:
    return Contract(copy.deepcopy(DESCRIPTION))


def test_a_secondary_limit_is_met_once(github: FakeGitHub, alice: Github) -> None:
    limit = {"message": "You have exceeded a secondary rate limit."}
    github.fail_next(
        "POST", r"/comments$", 403, headers={"Retry-After": "7"}, body=limit
    )
    issue = alice.get_repo(REPO).get_issue(1)
    with pytest.raises(GithubException) as problem:
        issue.create_comment("hello")
    assert problem.value.headers is not None
    assert problem.value.headers["retry-after"] == "7"
    assert github.comments(REPO, 1) == []
    issue.create_comment("hello")
    assert len(github.comments(REPO, 1)) == 1


def test_an_answer_may_get_lost_after_the_work_was_done(
    github: FakeGitHub, alice: Github
) -> None:
    github.fail_next("POST", r"/comments$", 502, times=2, when=When.AFTER)
    issue = alice.get_repo(REPO).get_issue(1)
    for _ in range(2):
        with pytest.raises(GithubException):
            issue.create_comment("hello")
    assert len(github.comments(REPO, 1)) == 2
    assert [r.status for r in github.requests][-2:] == [502, 502]


@pytest.mark.parametrize(
    ("asked", "status", "body", "complaints"),
    [
        ({"name": "x"}, 201, {"id": 1}, 0),
        ({"name": "x"}, 201, {}, 1),
        ({}, 201, {"id": 1}, 1),
        ({}, 422, {"message": "no"}, 0),
        ({}, 422, {"message": 7}, 1),
        ({"name": "x"}, 404, {"message": "x", "status": None}, 0),
        ({"name": "x"}, 404, {"message": "x", "status": "x"}, 1),
        ({"name": "x"}, 200, {}, 1),
        ({"name": "x"}, 204, None, 0),
        ({"name": "x"}, 204, {}, 1),
    ],
)
def test_an_exchange_is_held_against_the_description(
    asked: Json, status: int, body: Json | None, complaints: int
) -> None:
    request = Request(
        method="POST",
        path="/things",
        query={},
        headers={},
        body=json.dumps(asked).encode(),
    )
    answer = Answer(status=status, body=body)
    found = list(description().errors("/things", request, answer))
    assert len(found) == complaints


def ask_who_i_am() -> None:
    with (
        FakeGitHub(contract=description()) as github,
        pygithub(github, github.add_user("alice")) as client,
    ):
        assert client.get_user().login == "alice"
        assert len(github.contract_errors) == 1


def test_leaving_the_description_is_told_at_the_end() -> None:
    with pytest.raises(ContractError, match="no such operation"):
        ask_who_i_am()
