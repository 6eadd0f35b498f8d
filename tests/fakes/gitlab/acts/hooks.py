"""Bring deliveries to the address of their hook, and remember how that went."""

from dataclasses import replace

from tests.fakes.github.state import Delivery
from tests.fakes.github.webhooks.sending import deliver
from tests.fakes.gitlab.hook_state import HookAttempt
from tests.fakes.gitlab.state import World
from tests.fakes.gitlab.webhooks.outbox import again

UNREACHABLE = "internal error"
SECRETS = frozenset({"X-Gitlab-Token"})


def listen_at(world: World, url: str) -> None:
    """Set the address of every hook."""
    with world.lock:
        for hook in list(world.hooks.values()):
            world.hooks[hook.id] = replace(hook, url=url)


def bring(world: World, delivery: Delivery) -> str:
    """Try once to bring a delivery, and return the status that GitLab notes.

    GitLab does not try again by itself.
    """
    with world.lock:
        hook = world.hooks[world.addressed[delivery.guid]]
    status, body = UNREACHABLE, b""
    try:
        receipt = deliver(delivery, hook.url)
        status, body = str(receipt.status), receipt.body
    except OSError as problem:
        body = str(problem).encode()
    shown = {
        name: "[REDACTED]" if name in SECRETS else value
        for name, value in delivery.headers.items()
    }
    with world.lock:
        attempt = HookAttempt(
            id=world.next_id(),
            hook=hook.id,
            key=delivery.guid,
            trigger=_trigger(delivery),
            url=hook.url,
            status=status,
            request_headers=shown,
            request_body=delivery.body,
            response_body=body,
            created_at=world.clock.now(),
        )
        world.attempts.append(attempt)
    return status


def resend(world: World, attempt: HookAttempt) -> str:
    """Send again what an attempt sent, with the same key."""
    with world.lock:
        first = next(one for one in world.deliveries if one.guid == attempt.key)
        once_more = again(world, first)
    return bring(world, once_more)


def _trigger(delivery: Delivery) -> str:
    return delivery.event.lower().replace(" ", "_").replace("_hook", "_hooks")
