"""Tell what happened, signed, to whoever listens, and carry it there."""

import hashlib
import hmac
import http.client
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from tests.fakes.jira import render
from tests.fakes.jira.state import Comment, Delivery, History, Issue, World

Json = dict[str, Any]
TIMEOUT_S = 10
# What a ticket still shows beside a comment.
# https://developer.atlassian.com/cloud/jira/platform/webhooks/
_FEW = frozenset({"summary", "issuetype", "project", "assignee", "priority", "status"})


@dataclass(frozen=True)
class Receipt:
    """What the receiver answered."""

    status: int
    body: bytes


def tell_created(world: World, issue: Issue, history: History | None) -> None:
    body = _about(world, issue, issue.creator, "issue_created")
    if history is not None:
        body["changelog"] = _changelog(world, history)
    _record(world, "jira:issue_created", body)


def tell_updated(world: World, issue: Issue, history: History) -> None:
    fields = {item.field for item in history.items}
    name = "issue_assigned" if fields == {"assignee"} else "issue_updated"
    name = "issue_generic" if "status" in fields else name
    body = _about(world, issue, history.author, name)
    body["changelog"] = _changelog(world, history)
    _record(world, "jira:issue_updated", body)


def tell_deleted(world: World, issue: Issue, actor: str) -> None:
    _record(world, "jira:issue_deleted", _about(world, issue, actor, "issue_deleted"))


def tell_comment(world: World, issue: Issue, comment: Comment, event: str) -> None:
    """In a data center the ticket comes by a second delivery, and only there."""
    shown = render.comment(world, issue, comment)
    if world.is_cloud:
        few = render.issue(world, issue, "2", lambda name: name in _FEW)
        told = {"comment": shown, "issue": few, "eventType": "primaryAction"}
        _record(world, event, told)
        return
    _record(world, event, {"comment": shown})
    name = _DATA_CENTER.get(event)
    if name is not None:
        body = _about(world, issue, comment.update_author, name)
        _record(world, "jira:issue_updated", {**body, "comment": shown})


_DATA_CENTER = {
    "comment_created": "issue_commented",
    "comment_updated": "issue_comment_edited",
    "comment_deleted": "issue_comment_deleted",
}


def _about(world: World, issue: Issue, actor: str, name: str) -> Json:
    return {
        "issue_event_type_name": name,
        "user": render.user(world, actor),
        "issue": render.issue(world, issue, "2", lambda _: True),
    }


def _changelog(world: World, history: History) -> Json:
    return {
        "id": history.id,
        "items": [render.item(world, one) for one in history.items],
    }


def _record(world: World, event: str, facts: Json) -> None:
    """Record a delivery for each webhook, signed with its secret if it has one."""
    if not world.sends:
        return
    now = int(world.clock.now().timestamp() * 1000)
    body = json.dumps({"timestamp": now, "webhookEvent": event, **facts}).encode()
    for secret in world.secrets:
        name = f"{world.ids.new()}"
        headers = {
            "Content-Type": "application/json; charset=UTF-8",
            "User-Agent": "Atlassian HTTP Client 1.2.3",
            "X-Atlassian-Webhook-Identifier": name,
            **signature(secret, body),
        }
        found = Delivery(event=event, id=name, headers=headers, body=body)
        world.deliveries.append(found)


def signature(secret: str, body: bytes) -> dict[str, str]:
    """Return the header that proves where a body came from; none without a secret.

    https://developer.atlassian.com/cloud/jira/platform/webhooks/#secure-admin-webhooks
    """
    if not secret:
        return {}
    digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return {"X-Hub-Signature": f"sha256={digest}"}


def deliver(delivery: Delivery, url: str) -> Receipt:
    """Post it and return the answer; once more is a retry, with the same identifier."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(
        parts.hostname or "", parts.port, timeout=TIMEOUT_S
    )
    try:
        path = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
        connection.request("POST", path, delivery.body, delivery.headers)
        response = connection.getresponse()
        return Receipt(response.status, response.read())
    finally:
        connection.close()
