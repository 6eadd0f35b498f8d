"""Tell what happened, signed, to whoever listens, and carry it there, again if need be.

https://linear.app/developers/webhooks
"""

import hashlib
import hmac
import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from tests.fakes.linear import bodies
from tests.fakes.linear.exchange import Json
from tests.fakes.linear.facts import moment
from tests.fakes.linear.state import (
    Attachment,
    Comment,
    Entity,
    Issue,
    Reaction,
    User,
    Webhook,
    World,
)

# So long a receiver may take; it says 200, or is asked again after each of these.
TIMEOUT_S = 5
TAKEN = http.client.OK
RETRIES = (timedelta(minutes=1), timedelta(hours=1), timedelta(hours=6))
# What an app's own webhook hears alone.
OF_APPS = frozenset(
    {"AgentSessionEvent", "AppUserNotification", "OAuthApp", "PermissionChange"}
)


@dataclass(frozen=True)
class Receipt:
    """What the receiver answered; 0 if it did not in time."""

    status: int
    body: bytes


@dataclass(kw_only=True)
class Delivery:
    """A webhook as it was sent last; `event` is its type, and its id stays the same."""

    world: World = field(repr=False)
    id: str
    event: str
    action: str
    facts: Json = field(repr=False)
    secret: str = field(repr=False)
    body: bytes = field(default=b"", repr=False)
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    receipts: list[Receipt] = field(default_factory=list)
    retry_at: datetime | None = None

    def __post_init__(self) -> None:
        self.seal()

    def seal(self) -> None:
        """Date and sign it; whatever is sent again is dated and signed anew."""
        now_ms = int(self.world.clock.now().timestamp() * 1000)
        self.body = json.dumps({**self.facts, "webhookTimestamp": now_ms}).encode()
        self.headers = {
            "Content-Type": "application/json; charset=utf-8",
            "User-Agent": "Linear-Webhook",
            "Linear-Delivery": self.id,
            "Linear-Event": self.event,
            "Linear-Timestamp": str(now_ms),
            "Linear-Signature": signature(self.secret, self.body),
        }


def tell(
    world: World,
    found: Entity,
    action: str,
    actor: User,
    updated_from: Mapping[str, object] | None = None,
) -> None:
    """Tell that something was created, updated (with what was before) or removed."""
    kind, team, data = _described(world, found)
    told: Json = {"actor": bodies.actor(world, actor), "data": data}
    if updated_from is not None:
        told["updatedFrom"] = dict(updated_from)
    if (url := bodies.url_of(world, found)) is not None:
        told["url"] = url
    record(world, kind, action, told, workspace=actor.workspace, team=team)


def _described(world: World, found: Entity) -> tuple[str, str, Json]:
    match found:
        case Issue():
            return "Issue", found.team, bodies.issue(world, found)
        case Comment():
            team = world.get(Issue, found.issue).team
            return "Comment", team, bodies.comment(world, found)
        case Attachment():
            team = world.get(Issue, found.issue).team
            return "Attachment", team, bodies.attachment(found)
        case Reaction():
            about = found.issue or world.get(Comment, found.comment).issue
            team = world.get(Issue, about).team
            return "Reaction", team, bodies.reaction(world, found)
        case _:
            raise TypeError(f"nothing is told of a {type(found).__name__}")


def record(
    world: World, kind: str, action: str, facts: Json, *, workspace: str, team: str
) -> None:
    """Record a delivery for each webhook that is about it."""
    if not world.sends:
        return
    for hook in world.all(Webhook):
        if not _hears(hook, kind, workspace, team):
            continue
        told = {
            "action": action,
            "type": kind,
            "createdAt": moment(world.clock.now()),
            "organizationId": workspace,
            "webhookId": hook.id,
            **facts,
        }
        delivery = Delivery(
            world=world,
            id=world.new_id(),
            event=kind,
            action=action,
            facts=told,
            secret=hook.secret,
        )
        world.deliveries.append(delivery)


def _hears(hook: Webhook, kind: str, workspace: str, team: str) -> bool:
    return (
        hook.enabled
        and hook.workspace == workspace
        and hook.team in (None, team)
        and (hook.of_app or kind not in OF_APPS)
        and kind in hook.resource_types
    )


def signature(secret: str, body: bytes) -> str:
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def deliver(delivery: Delivery, url: str) -> Receipt:
    """Post it and return the answer; plan the next try if that was not a 200."""
    tried = len(delivery.receipts)
    if tried:
        delivery.seal()
    found = _post(url, delivery.body, delivery.headers)
    delivery.receipts.append(found)
    delivery.retry_at = None
    if found.status != TAKEN and tried < len(RETRIES):
        delivery.retry_at = delivery.world.clock.now() + RETRIES[tried]
    return found


def retry(world: World, url: str) -> list[Receipt]:
    """Carry again what is due by the clock; return the answers."""
    now = world.clock.now()
    due = [one for one in world.deliveries if one.retry_at and one.retry_at <= now]
    return [deliver(one, url) for one in due]


def _post(url: str, body: bytes, headers: Mapping[str, str]) -> Receipt:
    parts = urlsplit(url)
    host = parts.hostname or ""
    connection = http.client.HTTPConnection(host, parts.port, timeout=TIMEOUT_S)
    try:
        path = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
        connection.request("POST", path, body, dict(headers))
        response = connection.getresponse()
        return Receipt(response.status, response.read())
    except OSError:
        return Receipt(0, b"")
    finally:
        connection.close()
