"""A sandbox outlives its worker, and the next one takes it over."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import docker
import pytest

from patchwright.core.events.actions import RunCommand
from patchwright.core.events.observations import CommandOutput
from patchwright.core.runtime import Runtime, SandboxSpec
from patchwright.core.types.errors import RuntimeLostError
from patchwright.sandbox.docker import engine
from patchwright.sandbox.docker.runtimes import DockerRuntimes
from patchwright.sandbox.local.runtimes import BubblewrapRuntimes, UnconfinedRuntimes
from tests.adapters.sandbox.box import Box

COUNT = "echo x >> /tmp/count; wc -l < /tmp/count"
SLOW = f"until [ -e /tmp/go ]; do sleep 0.05; done; {COUNT}"


@pytest.fixture
def spec(spec: SandboxSpec, docker_runtimes: DockerRuntimes) -> Iterator[SandboxSpec]:
    """Remove what a test leaves behind when it fails half way."""
    yield spec
    docker_runtimes.remove(spec.run_id)


@pytest.fixture
def orphaned(spec: SandboxSpec, sandbox_image: str) -> SandboxSpec:
    """Leave a sandbox whose worker was killed in the middle of everything.

    One action has ended, one runs, and the line that asks for a third was cut off.
    """
    program = f"""
from threading import Thread
from patchwright.core.system.clock import SystemClock
from patchwright.core.events.types import RunCommand
from patchwright.core.runtime import SandboxSpec
from patchwright.sandbox.docker import engine
from patchwright.sandbox.docker.runtimes import DockerRuntimes
spec = SandboxSpec.model_validate_json({spec.model_dump_json()!r})
runtime = DockerRuntimes(engine.connect(), SystemClock(), {sandbox_image!r}).start(spec)
runtime.run(RunCommand(command={COUNT!r}), "7")
slow = RunCommand(command={SLOW!r}, session="slow")
Thread(target=runtime.run, args=(slow, "8"), daemon=True).start()
runtime.run(RunCommand(command="true"), "8b")
runtime._connection._stream.write(b'{{"id": "9", "op": "run_command", "comm')
print("started", flush=True)
input()
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as worker:
        assert worker.stdout is not None
        assert worker.stdout.readline() == b"started\n"
        worker.send_signal(signal.SIGKILL)
    return spec


@pytest.fixture
def runtime(
    orphaned: SandboxSpec, docker_runtimes: DockerRuntimes
) -> Iterator[Runtime]:
    attached = docker_runtimes.attach(orphaned)
    assert attached is not None
    yield attached
    attached.close()


def test_what_has_ended_is_not_done_again(runtime: Runtime) -> None:
    again = runtime.run(RunCommand(command=COUNT), "7")
    assert isinstance(again, CommandOutput)
    assert again.output == "1\n"


def test_what_still_runs_is_waited_for(runtime: Runtime) -> None:
    with ThreadPoolExecutor(1) as pool:
        slow = RunCommand(command=SLOW, session="slow")
        waited = pool.submit(runtime.run, slow, "8")
        Box(runtime).sh("touch /tmp/go")
        result = waited.result(10)
    assert isinstance(result, CommandOutput)
    assert (result.exit_code, result.output) == (0, "2\n")


def test_what_never_arrived_is_done_once(runtime: Runtime) -> None:
    action = RunCommand(command=COUNT)
    first = runtime.run(action, "9")
    assert isinstance(first, CommandOutput)
    assert first.output == "2\n"
    assert runtime.run(action, "9") == first


def test_what_a_cut_off_worker_has_started_can_be_cancelled(runtime: Runtime) -> None:
    runtime.cancel("8")
    slow = RunCommand(command=SLOW, session="slow")
    result = runtime.run(slow, "8")
    assert isinstance(result, CommandOutput)
    assert (result.exit_code, result.still_running) == (None, False)


def test_a_detached_sandbox_keeps_its_files_and_its_shell(
    spec: SandboxSpec, docker_runtimes: DockerRuntimes
) -> None:
    first = docker_runtimes.start(spec)
    first.run(RunCommand(command="cd /tmp; export WORD=kept"), "1")
    first.detach()
    first.close()
    second = docker_runtimes.attach(spec)
    assert second is not None
    output = second.run(RunCommand(command="pwd; echo $WORD"), "2")
    assert isinstance(output, CommandOutput)
    assert output.output == "/tmp\nkept\n"
    second.close()
    assert docker_runtimes.attach(spec) is None


def test_a_worker_that_was_only_slow_can_do_no_more(
    spec: SandboxSpec, docker_runtimes: DockerRuntimes
) -> None:
    slow = docker_runtimes.start(spec)
    pipe = slow.open_pipe(["sleep", "91"])
    new = docker_runtimes.attach(spec)
    assert new is not None
    with pytest.raises(RuntimeLostError, match="another worker has taken over"):
        slow.run(RunCommand(command="touch /tmp/planted"), "5")
    with pytest.raises(RuntimeLostError, match="another worker has taken over"):
        pipe.write("x")
    assert Box(new).sh("test -e /tmp/planted").exit_code == 1
    is_there = r"cat /proc/[0-9]*/cmdline | tr '\0' ' ' | grep -q '[s]leep 91'"
    assert Box(new).sh(f"while {is_there}; do sleep 0.05; done").exit_code == 0
    slow.detach()
    new.close()


def test_the_roles_of_one_run_are_told_apart(
    spec: SandboxSpec, docker_runtimes: DockerRuntimes
) -> None:
    evidence = spec.replace(role="evidence")
    docker_runtimes.start(evidence).detach()
    assert docker_runtimes.attach(spec) is None
    found = docker_runtimes.attach(evidence)
    assert found is not None
    found.close()


def stop(client: docker.DockerClient, name: str) -> None:
    """Stop the server like a machine that has come to a standstill."""
    client.api.kill(name, "SIGSTOP")


def pause(client: docker.DockerClient, name: str) -> None:
    client.api.pause(name)


@pytest.mark.parametrize("hold_up", [stop, pause])
def test_a_sandbox_that_does_not_answer_is_removed(
    spec: SandboxSpec,
    docker_runtimes: DockerRuntimes,
    client: docker.DockerClient,
    hold_up: Callable[[docker.DockerClient, str], None],
) -> None:
    docker_runtimes.start(spec).detach()
    label = f"patchwright.run={spec.run_id}"
    (found,) = engine.find(client, label)
    hold_up(client, found.name)
    assert docker_runtimes.attach(spec) is None
    assert engine.find(client, label) == []


@pytest.mark.parametrize("local", [BubblewrapRuntimes, UnconfinedRuntimes])
def test_a_sandbox_without_an_engine_ends_with_its_worker(
    spec: SandboxSpec, local: type[BubblewrapRuntimes | UnconfinedRuntimes]
) -> None:
    runtime = local().start(spec)
    assert local().attach(spec) is None
    runtime.detach()
    with pytest.raises(RuntimeLostError):
        runtime.run(RunCommand(command="true"), "1")
    runtime.close()
    assert local().remove(spec.run_id) == 0
