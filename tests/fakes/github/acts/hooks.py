"""Bring deliveries to the address of the hooks, and remember how that went."""

from tests.fakes.github.hook_state import HookAttempt
from tests.fakes.github.state import Delivery, World
from tests.fakes.github.webhooks.sending import deliver

UNREACHABLE = ("failed to connect", 502)


def listen_at(world: World, url: str) -> None:
    """Set the address of every hook."""
    with world.lock:
        world.hook_log.url = url


def bring(world: World, delivery: Delivery, *, redelivery: bool = False) -> int:
    """Try once to bring a delivery, and return the status that GitHub notes."""
    status, code = _send(world, delivery)
    with world.lock:
        attempt = HookAttempt(
            id=world.next_id(),
            guid=delivery.guid,
            target=target_of(delivery),
            delivered_at=world.clock.now(),
            status=status,
            status_code=code,
            redelivery=redelivery,
        )
        world.hook_log.attempts.append(attempt)
    return code


def target_of(delivery: Delivery) -> tuple[str, int]:
    """Return whose hook it is: an App has one, a repository may have several."""
    kind = delivery.headers["X-GitHub-Hook-Installation-Target-Type"]
    if kind == "integration":
        return kind, int(delivery.headers["X-GitHub-Hook-Installation-Target-ID"])
    return kind, int(delivery.headers["X-GitHub-Hook-ID"])


def _send(world: World, delivery: Delivery) -> tuple[str, int]:
    try:
        receipt = deliver(delivery, world.hook_log.url)
    except OSError:
        return UNREACHABLE
    is_fine = 200 <= receipt.status < 300
    return ("OK" if is_fine else "Invalid HTTP Response"), receipt.status
