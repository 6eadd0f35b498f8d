"""Everything is replaced by a new version while webhooks keep coming in."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx
import pytest

from tests.deploy.docker_cli import docker
from tests.deploy.images import Images
from tests.deploy.scene import Scene
from tests.deploy.stack import Stack, configure, post
from tests.fakes.github.state import Delivery

pytestmark = [pytest.mark.deploy, pytest.mark.timeout(600)]

EVERY_S = 0.1
RUNS = 4


def test_no_webhook_is_refused_and_no_run_is_lost_while_all_is_replaced(
    stack: Stack, world: Scene, images: Images
) -> None:
    before = _ids(stack)
    newer = _next_version(images.service)
    configure(stack, SERVICE_IMAGE=newer)
    numbers = [world.open_issue(f"Wrong sum, {turn}") for turn in range(RUNS)]
    with _traffic(stack, world.github.deliveries[-RUNS:]) as traffic:
        stack.run("upgrade")
    assert len(traffic.statuses) > RUNS
    assert set(traffic.statuses) <= {200, 202}, traffic.statuses
    assert _ids(stack).isdisjoint(before)
    for number in numbers:
        stack.wait(lambda n=number: world.has_ended(n), f"the end of #{number}")
        assert len(world.pull_requests(number)) == 1
        assert len(world.replies(number)) == 1
    assert {one["Config"]["Image"] for one in stack.inspect("worker")} == {newer}


@dataclass
class Traffic:
    """What the proxy answered, in the order of asking."""

    statuses: list[int] = field(default_factory=list)


@contextmanager
def _traffic(stack: Stack, deliveries: list[Delivery]) -> Iterator[Traffic]:
    """Bring deliveries to the proxy again and again, each of them one job at most."""
    traffic, ended = Traffic(), threading.Event()

    def go_on() -> None:
        with stack.client() as client:
            while not ended.wait(EVERY_S):
                turn = len(traffic.statuses) % len(deliveries)
                traffic.statuses.append(_post(client, deliveries[turn]))

    sender = threading.Thread(target=go_on)
    sender.start()
    try:
        yield traffic
    finally:
        ended.set()
        sender.join()


def _post(client: httpx.Client, delivery: Delivery) -> int:
    try:
        return post(client, delivery)
    except httpx.TransportError:
        return 0


def _next_version(image: str) -> str:
    """Give the image another name, which makes it a new version to Compose."""
    newer = f"{image}-next"
    docker("tag", image, newer)
    return newer


def _ids(stack: Stack) -> set[str]:
    services = ("web", "worker", "beat")
    return {one for service in services for one in stack.containers(service)}
