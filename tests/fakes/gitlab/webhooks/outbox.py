"""Address what happened to every hook that listens, with all headers that prove it.

https://docs.gitlab.com/user/project/integrations/webhooks/
"""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from tests.fakes.github.state import Delivery
from tests.fakes.gitlab.exchange import Json
from tests.fakes.gitlab.hook_state import Hook
from tests.fakes.gitlab.state import World

KEY = "Idempotency-Key"
SIGNING_PREFIX = "whsec_"


@dataclass(frozen=True)
class Event:
    """`name` is the value of the header, `flag` what a hook listens to."""

    name: str
    flag: str
    action: str = ""


PUSH = Event("Push Hook", "push_events")
TAG_PUSH = Event("Tag Push Hook", "tag_push_events")
PIPELINE = Event("Pipeline Hook", "pipeline_events")
JOB = Event("Job Hook", "job_events")
EMOJI = Event("Emoji Hook", "emoji_events")
MERGE_REQUEST = Event("Merge Request Hook", "merge_requests_events")
ISSUE = Event("Issue Hook", "issues_events")
CONFIDENTIAL_ISSUE = Event("Confidential Issue Hook", "confidential_issues_events")
NOTE = Event("Note Hook", "note_events")
CONFIDENTIAL_NOTE = Event("Confidential Note Hook", "confidential_note_events")
SYSTEM = Event("System Hook", "")


def announce(
    world: World, project: int | None, event: Event, build: Callable[[], Json]
) -> None:
    """Record a delivery for each hook there, with a body that is built once."""
    hooks = [one for one in world.hooks.values() if _listens(one, project, event)]
    if not hooks:
        return
    body = json.dumps(build()).encode()
    for hook in hooks:
        key = str(world.ids.new())
        headers = _headers(world, hook, event.name, key, body)
        world.deliveries.append(
            Delivery(
                event=event.name,
                action=event.action,
                guid=key,
                headers=headers,
                body=body,
            )
        )
        world.addressed[key] = hook.id


@contextmanager
def one_request(world: World) -> Iterator[None]:
    """Let all that happens within come of one request, whose name the events share."""
    world.acting = str(world.ids.new())
    try:
        yield
    finally:
        world.acting = ""


def again(world: World, delivery: Delivery) -> Delivery:
    """Return the same delivery as it is sent once more: only its key stays."""
    hook = world.hooks[world.addressed[delivery.guid]]
    headers = _headers(world, hook, delivery.event, delivery.guid, delivery.body)
    return replace(delivery, headers=headers)


def _listens(hook: Hook, project: int | None, event: Event) -> bool:
    if hook.project != project:
        return False
    return project is None or hook.events.get(event.flag, False)


def _headers(
    world: World, hook: Hook, event: str, key: str, body: bytes
) -> dict[str, str]:
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"GitLab/{world.version}",
        KEY: key,
        "X-Gitlab-Event": event,
        "X-Gitlab-Webhook-UUID": str(world.ids.new()),
        "X-Gitlab-Instance": world.base_url,
        "X-Gitlab-Event-UUID": world.acting or str(world.ids.new()),
    }
    if hook.token:
        headers["X-Gitlab-Token"] = hook.token
    if hook.signing_token:
        at = str(int(world.clock.now().timestamp()))
        headers |= signature(hook.signing_token, key, at, body)
    return headers


def signature(signing_token: str, key: str, at: str, body: bytes) -> dict[str, str]:
    """Return the headers by which a body proves itself, `at` in seconds since 1970.

    https://gitlab.com/gitlab-org/gitlab/-/merge_requests/230944
    """
    secret = base64.b64decode(signing_token.removeprefix(SIGNING_PREFIX))
    signed = f"{key}.{at}.".encode() + body
    digest = hmac.new(secret, signed, hashlib.sha256).digest()
    return {
        "webhook-id": key,
        "webhook-timestamp": at,
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }
