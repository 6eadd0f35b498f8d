"""Deliveries of our own making, with the few fields that are read."""

import json
from typing import Any

from patchwright.core.types.triggers import Ignored, ParsedWebhook, Trigger
from patchwright.integrations.github.webhooks.reader import read_delivery
from patchwright.integrations.github.webhooks.triggers import GitHubTriggerRules

LISTENING = GitHubTriggerRules(
    mention="@patchwright",
    label="fix-me",
    own_login="patchwright[bot]",
)
ANN = {"login": "ann", "id": 11, "type": "User"}
BO = {"login": "bo", "id": 12, "type": "User"}


def bot(login: str) -> dict[str, Any]:
    return {"login": login, "id": 13, "type": "Bot"}


def issue(**fields: Any) -> dict[str, Any]:
    usual = {
        "number": 7,
        "title": "Wrong sum",
        "body": "Off by one.",
        "user": ANN,
        "updated_at": "2030-01-01T12:00:00Z",
    }
    return usual | fields


def delivery(action: str, **fields: Any) -> dict[str, Any]:
    usual = {
        "action": action,
        "repository": {"full_name": "acme/shop"},
        "sender": ANN,
        "issue": issue(),
    }
    return usual | fields


def comment(body: str | None, action: str = "created", **fields: Any) -> dict[str, Any]:
    written = {"id": 123, "body": body, "user": ANN}
    return delivery(action, **({"comment": written} | fields))


def review(body: str | None, action: str = "submitted", **fields: Any) -> Any:
    """Make a delivery of a review; `state` goes into the review, the rest beside."""
    state = fields.pop("state", "commented")
    written = {"id": 900, "body": body, "user": ANN, "state": state}
    return delivery(action, **({"review": written, "pull_request": issue()} | fields))


def review_comment(body: str, action: str = "created", **fields: Any) -> Any:
    written = {"id": 55, "body": body, "user": ANN, "pull_request_review_id": 900}
    return delivery(action, **({"comment": written, "pull_request": issue()} | fields))


def read_json(event: str, payload: object) -> ParsedWebhook:
    return read_delivery(event, json.dumps(payload).encode(), LISTENING)


def trigger_of(event: str, payload: object) -> Trigger:
    reading = read_json(event, payload)
    assert isinstance(reading, Trigger), reading
    return reading


def reason_of(event: str, payload: object) -> str:
    reading = read_json(event, payload)
    assert isinstance(reading, Ignored), reading
    return reading.reason
