"""How long a sandbox takes to be ready, and a command to come back."""

from collections.abc import Iterator
from contextlib import closing
from itertools import count

import docker

from bench.figures import CLOCK, Metric, ms, took_s
from patchwright.core.events.actions import RunCommand
from patchwright.core.events.observations import CommandOutput
from patchwright.core.runtime import Runtime, RuntimeFactory, SandboxSpec
from patchwright.sandbox.factory import create_factory
from tests.provision.image import ensure_image

STARTS = 5
COMMANDS = 100
# Between two commands the model is asked, which takes longer than this.
REST_S = 0.01
KINDS: tuple[str, ...] = ("docker", "bubblewrap")
NUMBERS = count(1)


def measure() -> Iterator[Metric]:
    image = ensure_image()
    plain = f"docker run + exec: {ms(_plain_docker(image))}"
    for kind in KINDS:
        sandboxes = create_factory(kind, CLOCK, image)
        starts_s = [_start(sandboxes, image) for _ in range(STARTS)]
        beside = plain if kind == "docker" else ""
        yield Metric(f"{kind}: start to first command", ms(starts_s), beside)
        with closing(sandboxes.start(_spec(image))) as runtime:
            builtin, fork = _each(runtime, ":"), _each(runtime, "/bin/true")
            rushed = _each(runtime, ":", rest_s=0)
        yield Metric(f"{kind}: a builtin, a program", f"{ms(builtin)}, {ms(fork)}")
        yield Metric(f"{kind}: builtins without a rest between them", ms(rushed))


def _spec(image: str) -> SandboxSpec:
    return SandboxSpec(run_id="bench-sandboxes", image=image)


def _start(sandboxes: RuntimeFactory, image: str) -> float:
    started = CLOCK.monotonic()
    with closing(sandboxes.start(_spec(image))) as runtime:
        _run(runtime, "true")
        return CLOCK.monotonic() - started


def _each(runtime: Runtime, command: str, rest_s: float = REST_S) -> list[float]:
    return [_after(rest_s, runtime, command) for _ in range(COMMANDS)]


def _after(rest_s: float, runtime: Runtime, command: str) -> float:
    CLOCK.sleep(rest_s)
    return took_s(lambda: _run(runtime, command))


def _run(runtime: Runtime, command: str) -> None:
    output = runtime.run(RunCommand(command=command), f"bench-{next(NUMBERS)}")
    if not isinstance(output, CommandOutput) or output.exit_code != 0:
        raise RuntimeError(str(output))


def _plain_docker(image: str) -> list[float]:
    with closing(docker.from_env()) as client:
        return [_plain_start(client, image) for _ in range(STARTS)]


def _plain_start(client: "docker.DockerClient", image: str) -> float:
    started = CLOCK.monotonic()
    container = client.containers.run(image, ["sleep", "60"], detach=True)
    try:
        container.exec_run("true")
        return CLOCK.monotonic() - started
    finally:
        container.remove(force=True)
