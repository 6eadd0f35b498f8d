"""Answers that others recorded are read, though they have more or fewer fields."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue

from patchwright.integrations.jira.webhooks.payloads import (
    CommentPage,
    FieldDefinitions,
    IssueFields,
    JiraIssue,
    JiraUser,
    Transitions,
    parse_answer,
)

# What a data center and the cloud answer, with the oddest of their fields.
TICKET: JsonValue = {
    "key": "APP-1",
    "fields": {
        "summary": None,
        "description": None,
        "created": "2020-12-03T14:05:20.974+0100",
        "creator": None,
        "parent": {"id": "1", "key": "APP-2"},
        "issuelinks": [{"type": {"inward": "is blocked by"}}],
    },
}


def test_ticket_with_nulls_is_read() -> None:
    fields = parse_answer(IssueFields, parse_answer(JiraIssue, TICKET).raw_fields)
    assert fields.summary == ""
    assert fields.created.utcoffset() is not None
    assert fields.parent is not None
    assert fields.parent.fields.summary == ""


def test_comment_of_a_deleted_account_is_read() -> None:
    created = "2020-12-03T14:05:20.974+0100"
    comment: JsonValue = {"id": "1", "body": "x", "created": created}
    page = parse_answer(CommentPage, {"comments": [comment], "total": 1})
    assert page.comments[0].author is None


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("jira-cli/fields.json", FieldDefinitions),
        ("jira-cli/myself.json", JiraUser),
        ("jira-cli/transitions.json", Transitions),
        ("go-jira/all_fields.json", FieldDefinitions),
        ("go-jira/transitions.json", Transitions),
    ],
)
def test_recorded_answers_are_read(corpus: Path | None, name: str, kind: Any) -> None:
    if corpus is not None:
        parse_answer(kind, json.loads((corpus / "jira" / "rest" / name).read_bytes()))


def test_recorded_tickets_are_read(corpus: Path | None) -> None:
    for path in sorted((corpus or Path()).glob("jira/rest/jira-cli/issue*.json")):
        found = json.loads(path.read_bytes())
        if "key" in found and "created" in found["fields"]:
            parse_answer(IssueFields, parse_answer(JiraIssue, found).raw_fields)
