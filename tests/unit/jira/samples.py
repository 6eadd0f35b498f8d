"""Deliveries of our own making, in the shapes of Cloud and of a data center."""

import json
from typing import Any

from patchwright.core.types.triggers import Ignored, ParsedWebhook, Trigger
from patchwright.integrations.jira.webhooks.reader import read_delivery
from patchwright.integrations.jira.webhooks.triggers import JiraTriggerRules

HOST = "acme.atlassian.net"
REST = f"https://{HOST}/rest/api/2"
LISTENING = JiraTriggerRules(
    host=HOST,
    projects=frozenset({"APP"}),
    mention="@patchwright",
    label="fix-me",
    own_ids=frozenset({"557058:bot"}),
)
DC = JiraTriggerRules(
    host="jira.corp.example/jira",
    projects=frozenset({"APP"}),
    mention="@patchwright",
    label="fix-me",
    own_ids=frozenset({"patchwright", "JIRAUSER10200"}),
)
DC_REST = f"https://{DC.host}/rest/api/2"
CREATED = "2030-01-01T12:00:00.000+0000"
LATER = "2030-01-01T14:00:00.000+0100"  # one hour after


def account(account_id: str, name: str, **fields: Any) -> dict[str, Any]:
    usual = {
        "self": f"{REST}/user?accountId={account_id}",
        "accountId": account_id,
        "displayName": name,
        "accountType": "atlassian",
    }
    return usual | fields


ANN = account("557058:ann", "Ann")
BO = account("557058:bo", "Bo")
US = account("557058:bot", "Patchwright")


def user(name: str, key: str = "", **fields: Any) -> dict[str, Any]:
    """Make a user of a data center."""
    usual = {
        "self": f"{DC_REST}/user?username={name}",
        "name": name,
        "key": key or name,
        "displayName": name.title(),
    }
    return usual | fields


def issue(rest: str = REST, **fields: Any) -> dict[str, Any]:
    """Make a ticket; `key` stands beside its fields."""
    key = fields.pop("key", "APP-7")
    digits = "".join(filter(str.isdigit, key))
    number = fields.pop("id", f"1{digits:0>4}")
    usual: dict[str, Any] = {
        "summary": "Wrong sum",
        "description": "Off by one.",
        "labels": [],
        "assignee": None,
        "creator": ANN,
        "created": CREATED,
    }
    return {
        "id": number,
        "key": key,
        "self": f"{rest}/issue/{number}",
        "fields": usual | fields,
    }


def said(body: object, author: Any = ANN, rest: str = REST, **fields: Any) -> Any:
    usual = {
        "self": f"{rest}/issue/10007/comment/501",
        "id": "501",
        "author": author,
        "updateAuthor": author,
        "body": body,
        "created": LATER,
        "updated": LATER,
    }
    return usual | fields


def comment(body: object, event: str = "comment_created", **fields: Any) -> Any:
    usual = {
        "timestamp": 1893502800000,
        "webhookEvent": event,
        "comment": said(body),
        "issue": issue(),
    }
    return usual | fields


def created(user: Any = ANN, **fields: Any) -> dict[str, Any]:
    return {
        "timestamp": 1893499200000,
        "webhookEvent": "jira:issue_created",
        "issue_event_type_name": "issue_created",
        "user": user,
        "issue": issue(**fields),
    }


def item(field: str, old: str | None, new: str | None, **fields: Any) -> Any:
    """Make a change of a text; `from_id` and `to_id` are for what has ids."""
    usual = {
        "field": field,
        "fieldtype": "jira",
        "from": fields.pop("from_id", None),
        "fromString": old,
        "to": fields.pop("to_id", None),
        "toString": new,
    }
    return usual | fields


def updated(*items: Any, user: Any = ANN, **fields: Any) -> dict[str, Any]:
    """Make a delivery of a change; `ticket` is the ticket after it."""
    usual = {
        "timestamp": 1893502800000,
        "webhookEvent": "jira:issue_updated",
        "issue_event_type_name": "issue_updated",
        "user": user,
        "issue": fields.pop("ticket", issue()),
        "changelog": {"id": "901", "items": list(items)},
    }
    return usual | fields


def read_json(
    payload: object, listening: JiraTriggerRules = LISTENING
) -> ParsedWebhook:
    return read_delivery(json.dumps(payload).encode(), listening)


def trigger_of(payload: object, listening: JiraTriggerRules = LISTENING) -> Trigger:
    reading = read_json(payload, listening)
    assert isinstance(reading, Trigger), reading
    return reading


def reason_of(payload: object, listening: JiraTriggerRules = LISTENING) -> str:
    reading = read_json(payload, listening)
    assert isinstance(reading, Ignored), reading
    return reading.reason
