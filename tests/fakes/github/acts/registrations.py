"""Somebody makes an App from a manifest, and the one who asked for it takes it over."""

import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta

from tests.fakes.github.acts.accounts import add_app, ensure_account
from tests.fakes.github.exchange import Json, RefusedError, not_found
from tests.fakes.github.registry_state import Registration, Unclaimed
from tests.fakes.github.state import AccountKind, App, World

# https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
CODE_LIFE = timedelta(hours=1)
MOST_CALLBACKS = 10
# Which permission an App must have to hear of an event, one of several.
# https://docs.github.com/en/webhooks/webhook-events-and-payloads
PERMISSIONS_OF_EVENTS = {
    "check_run": {"checks"},
    "check_suite": {"checks"},
    "discussion": {"discussions"},
    "discussion_comment": {"discussions"},
    "issue_comment": {"issues", "pull_requests"},
    "issues": {"issues"},
    "pull_request": {"pull_requests"},
    "pull_request_review": {"pull_requests"},
    "pull_request_review_comment": {"pull_requests"},
    "pull_request_review_thread": {"pull_requests"},
    "push": {"contents"},
    "repository": {"metadata"},
    "status": {"statuses"},
    "workflow_run": {"actions"},
}
LEVELS = {"read", "write", "admin"}


@dataclass(frozen=True)
class Claimed:
    app: App
    registration: Registration
    private_key: str


def register(world: World, manifest: Json, owner: str) -> str:
    """Make the App and return the code for it, or refuse as GitHub's page does."""
    if errors := list(_errors(world, manifest)):
        raise RefusedError(
            422, f"Invalid GitHub App configuration. {'; '.join(errors)}"
        )
    app_id = world.next_id()
    permissions = manifest["default_permissions"]
    private_key = add_app(
        world, app_id, _slug(manifest), secrets.token_hex(20), permissions
    )
    if owner:
        account = ensure_account(world, owner, AccountKind.ORGANIZATION)
        world.apps[app_id] = replace(world.apps[app_id], owner=account.login)
    subscribe(world, app_id, manifest["default_events"])
    world.registry.setup_urls[app_id] = manifest.get("setup_url", "")
    world.hook_log.url = manifest["hook_attributes"]["url"]
    add_client(world, app_id, manifest.get("callback_urls", []))
    code = secrets.token_hex(20)
    world.registry.unclaimed[code] = Unclaimed(
        app_id=app_id,
        private_key=private_key,
        expires_at=world.clock.now() + CODE_LIFE,
    )
    return code


def claim(world: World, code: str) -> Claimed:
    """Hand the App over, once."""
    found = world.registry.unclaimed.pop(code, None)
    if found is None or found.expires_at <= world.clock.now():
        raise not_found()
    registration = world.registry.registrations[found.app_id]
    return Claimed(world.apps[found.app_id], registration, found.private_key)


def subscribe(world: World, app_id: int, events: Iterable[str]) -> None:
    """Let an App hear of these events alone."""
    world.registry.events[app_id] = frozenset(events)


def add_client(world: World, app_id: int, callback_urls: Iterable[str]) -> Registration:
    """Let an App sign people in."""
    registration = Registration(
        app_id=app_id,
        client_id=f"Iv23li{secrets.token_hex(7)}",
        client_secret=secrets.token_hex(20),
        callback_urls=tuple(callback_urls),
    )
    world.registry.registrations[app_id] = registration
    return registration


def _slug(manifest: Json) -> str:
    return str(manifest["name"]).lower().replace(" ", "-")


def _errors(world: World, manifest: Json) -> Iterator[str]:
    if not manifest.get("url") or not manifest.get("redirect_url"):
        yield "Url can't be blank"
    if not manifest.get("hook_attributes", {}).get("url"):
        yield "Hook url can't be blank"
    if any(app.slug == _slug(manifest) for app in world.apps.values()):
        yield "Name is already taken"
    if len(manifest.get("callback_urls", [])) > MOST_CALLBACKS:
        yield "Too many callback urls"
    permissions = manifest.get("default_permissions", {})
    if not set(permissions.values()) <= LEVELS:
        yield "Default permission records resource is not included in the list"
    events = manifest.get("default_events", [])
    if unknown := sorted(set(events) - set(PERMISSIONS_OF_EVENTS)):
        yield f"Default events unsupported: {', '.join(unknown)}"
    if deaf := [e for e in events if not _may_hear(e, permissions)]:
        yield f"Default events are not supported by permissions: {', '.join(deaf)}"


def _may_hear(event: str, permissions: Json) -> bool:
    return not PERMISSIONS_OF_EVENTS.get(event, set()).isdisjoint(permissions)
