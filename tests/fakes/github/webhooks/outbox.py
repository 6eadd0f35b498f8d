"""Sign what happened, for everybody who hears about that repository."""

import hmac
import json
import uuid
from collections.abc import Callable

from tests.fakes.github.exchange import Json
from tests.fakes.github.state import Delivery, Installation, World
from tests.fakes.github.webhooks.changes import Change, repo_of
from tests.fakes.github.webhooks.payloads import event_of, payload


def announce(world: World, change: Change) -> None:
    """Tell everybody who hears about that repository."""
    event = event_of(change)
    tell(world, repo_of(change), event, lambda: payload(world, change))


def tell(world: World, repo: str, event: str, build: Callable[[], Json]) -> None:
    """Record a delivery for each App installed there and each hook added there.

    Where nobody listens nothing is built.
    """
    full_name = repo.lower()
    apps = [
        installation
        for installation in world.installations.values()
        if _gets_cross_posts(installation, full_name)
        and world.registry.listens(installation.app_id, event)
    ]
    hooks = [hook for hook in world.hooks.values() if hook.repo == full_name]
    if not apps and not hooks:
        return
    body = build()
    for installation in apps:
        _record(world, event, _for_app(world, installation, body))
    for hook in hooks:
        target = ("repository", world.repo(full_name).id, hook.id)
        _record(world, event, (body, hook.secret, target))


def tell_app(world: World, installation: Installation, event: str, body: Json) -> None:
    """Record a delivery for the App alone, about its own installation."""
    app = world.apps[installation.app_id]
    target = ("integration", app.id, installation.id)
    _record(world, event, (body, app.webhook_secret, target))


def _gets_cross_posts(installation: Installation, full_name: str) -> bool:
    return installation.suspended_at is None and full_name in installation.repositories


Target = tuple[str, int, int]


def _for_app(
    world: World, installation: Installation, body: Json
) -> tuple[Json, str, Target]:
    app = world.apps[installation.app_id]
    told = {
        "id": installation.id,
        "node_id": f"MDIzOkludGVncmF0aW9uSW5zdGFsbGF0aW9u{installation.id}",
    }
    target = ("integration", app.id, installation.id)
    return {**body, "installation": told}, app.webhook_secret, target


def _record(world: World, event: str, message: tuple[Json, str, Target]) -> None:
    body, secret, (target_type, target_id, hook_id) = message
    raw = json.dumps(body, separators=(",", ":")).encode()
    guid = str(uuid.UUID(hex=world.ids.new()))
    headers = {
        "Accept": "*/*",
        "Content-Type": "application/json",
        "User-Agent": "GitHub-Hookshot/fa4e000",
        "X-GitHub-Delivery": guid,
        "X-GitHub-Event": event,
        "X-GitHub-Hook-ID": str(hook_id),
        "X-GitHub-Hook-Installation-Target-ID": str(target_id),
        "X-GitHub-Hook-Installation-Target-Type": target_type,
        **signatures(secret, raw),
    }
    delivery = Delivery(
        event=event, action=body.get("action", ""), guid=guid, headers=headers, body=raw
    )
    world.deliveries.append(delivery)


def signatures(secret: str, body: bytes) -> dict[str, str]:
    """Return the headers that prove where a body came from; none without a secret.

    https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries
    """
    if not secret:
        return {}
    return {
        "X-Hub-Signature": f"sha1={_digest(secret, body, 'sha1')}",
        "X-Hub-Signature-256": f"sha256={_digest(secret, body, 'sha256')}",
    }


def _digest(secret: str, body: bytes, algorithm: str) -> str:
    return hmac.new(secret.encode(), body, algorithm).hexdigest()
