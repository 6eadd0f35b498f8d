"""Measure what the stack takes, for the figures of docs/deploy.md.

`python -m tests.deploy.measure` takes some minutes on a machine with nothing else.
"""

import sys
import tempfile
import threading
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import docker

from patchwright.core.system.clock import SystemClock
from tests.deploy.images import ensure_images
from tests.deploy.scene import Scene, scene
from tests.deploy.stack import Stack, installed, post
from tests.flow.story import REPO

SERVICES = ("proxy", "web", "worker", "beat", "postgres", "redis")
WEBHOOKS = 300
RUNS = 30
SETTLE_S = 15.0
MB = 1e6


@dataclass(frozen=True)
class Use:
    """What one container has used: bytes of memory now, seconds of a CPU so far."""

    memory: float
    cpu_s: float


def measure(stack: Stack, world: Scene) -> None:
    threading.Event().wait(SETTLE_S)
    for service in SERVICES:
        _say(f"idle {service}", f"{_use(stack, service).memory / MB:.0f} MB")
    _measure_webhooks(stack, world)
    _measure_runs(stack, world)


def _measure_webhooks(stack: Stack, world: Scene) -> None:
    number = world.github.open_issue(REPO, "alice", "Talk", "Nothing is asked here.")
    before = {name: _use(stack, name).cpu_s for name in ("proxy", "web", "postgres")}
    with stack.client() as client:
        for turn in range(WEBHOOKS):
            world.github.comment(REPO, number, "alice", f"Word {turn}")
            assert post(client, world.github.deliveries[-1]) < 300
    for name, cpu_s in before.items():
        spent = (_use(stack, name).cpu_s - cpu_s) / WEBHOOKS
        _say(f"webhook {name}", f"{spent * 1000:.1f} ms of CPU")


def _measure_runs(stack: Stack, world: Scene) -> None:
    idle, clock = _use(stack, "worker"), SystemClock()
    grown = -_database_bytes(stack)
    world.model.hold_up()
    began_at, numbers = clock.monotonic(), []
    for turn in range(RUNS):
        numbers.append(world.open_issue(f"Wrong sum {turn}"))
        assert stack.deliver(world.github.deliveries[-1]) == 202
    stack.wait(lambda: len(_running(stack)) == 2, "two runs")
    threading.Event().wait(SETTLE_S)
    busy = _use(stack, "worker")
    each = (busy.memory - idle.memory) / 2
    _say("a running job", f"{each / MB:.0f} MB more in the worker")
    world.model.go_on()
    began_at = clock.monotonic()
    stack.wait(lambda: all(map(world.has_ended, numbers)), "the end", 600)
    seconds = clock.monotonic() - began_at
    after = _use(stack, "worker")
    _say("runs", f"{RUNS / seconds * 3600:.0f} an hour, with two at a time")
    _say("a run", f"{(after.cpu_s - idle.cpu_s) / RUNS:.2f} s of CPU in the worker")
    _say("worker after them", f"{after.memory / MB:.0f} MB")
    grown += _database_bytes(stack)
    _say("database", f"{grown / RUNS / 1000:.0f} kB a run")
    events = int(stack.query("SELECT count(*) FROM events")[0]) / RUNS
    _say("events", f"{events:.0f} a run")


def _use(stack: Stack, service: str) -> Use:
    """Add up what the containers of a service use."""
    total = Use(0, 0)
    with closing(docker.from_env()) as client:
        for container in stack.containers(service):
            seen = client.api.stats(container, stream=False)
            # The page cache counts for nobody, as in `docker stats`.
            cache = seen["memory_stats"]["stats"].get("inactive_file", 0)
            memory = total.memory + seen["memory_stats"]["usage"] - cache
            cpu_ns = seen["cpu_stats"]["cpu_usage"]["total_usage"]
            total = Use(memory, total.cpu_s + cpu_ns / 1e9)
    return total


def _database_bytes(stack: Stack) -> int:
    return int(stack.query("SELECT pg_database_size('patchwright')")[0])


def _running(stack: Stack) -> list[str]:
    return stack.query("SELECT id FROM jobs WHERE state = 'running'")


def _say(what: str, metric: str) -> None:
    sys.stdout.write(f"{what}: {metric}\n")
    sys.stdout.flush()


def main() -> None:
    images = ensure_images()
    with (
        tempfile.TemporaryDirectory(prefix="measure-") as name,
        scene() as world,
        installed(Path(name), images, world.settings, world.secrets) as stack,
    ):
        stack.up()
        measure(stack, world)


if __name__ == "__main__":
    main()
