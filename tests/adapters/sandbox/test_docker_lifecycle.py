"""Containers: what ends them, and what happens to those whose worker is gone."""

import signal
import socket
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from threading import Timer

import docker
import pytest

from patchwright.core.runtime import SandboxSpec
from patchwright.core.system.clock import SystemClock
from patchwright.core.types.errors import RuntimeLostError, SandboxError
from patchwright.sandbox.docker import engine
from patchwright.sandbox.docker.runtimes import DockerRuntimes
from tests.adapters.sandbox.box import Box
from tests.adapters.sandbox.containers import find
from tests.fakes.clock import FakeClock

DAY_S = 86_400.0


def start_in_another_process(spec: SandboxSpec, image: str) -> subprocess.Popen[bytes]:
    """Return a worker whose sandbox answers, and which can be killed."""
    program = f"""
from patchwright.core.system.clock import SystemClock
from patchwright.core.events.types import RunCommand
from patchwright.core.runtime import SandboxSpec
from patchwright.sandbox.docker import engine
from patchwright.sandbox.docker.runtimes import DockerRuntimes
spec = SandboxSpec.model_validate_json({spec.model_dump_json()!r})
runtime = DockerRuntimes(engine.connect(), SystemClock(), {image!r}).start(spec)
runtime.run(RunCommand(command="echo x >> count; wc -l < count"), "action-1")
print("started", flush=True)
input()
"""
    worker = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert worker.stdout is not None
    assert worker.stdout.readline() == b"started\n"
    return worker


@pytest.fixture
def killed_worker_spec(spec: SandboxSpec, sandbox_image: str) -> SandboxSpec:
    """Leave a sandbox behind whose worker was killed."""
    with start_in_another_process(spec, sandbox_image) as worker:
        worker.send_signal(signal.SIGKILL)
    return spec


def test_s48_what_a_killed_worker_left_is_removed_with_its_volume(
    killed_worker_spec: SandboxSpec,
    docker_runtimes: DockerRuntimes,
    client: docker.DockerClient,
) -> None:
    run_id = killed_worker_spec.run_id
    (name,) = find(client, run_id)
    (mount,) = client.api.inspect_container(name)["Mounts"]
    assert docker_runtimes.remove(run_id) == 1
    assert find(client, run_id) == []
    with pytest.raises(docker.errors.NotFound):
        client.volumes.get(mount["Name"])
    assert docker_runtimes.remove(run_id) == 0


def test_s48_only_containers_past_their_time_are_reaped(
    spec: SandboxSpec,
    docker_runtimes: DockerRuntimes,
    client: docker.DockerClient,
    sandbox_image: str,
) -> None:
    spec = spec.replace(lifetime_s=DAY_S)
    long_ago = FakeClock(SystemClock().now() - timedelta(days=2))
    young = docker_runtimes.start(spec)
    old_spec = spec.replace(run_id=f"{spec.run_id}-old")
    old = DockerRuntimes(client, long_ago, sandbox_image).start(old_spec)
    assert docker_runtimes.reap() >= 1
    assert find(client, old_spec.run_id) == []
    assert len(find(client, spec.run_id)) == 1
    old.close()
    young.close()


def test_s48_a_sandbox_ends_itself_at_the_end_of_its_life(
    spec: SandboxSpec, docker_runtimes: DockerRuntimes
) -> None:
    runtime = docker_runtimes.start(spec.replace(lifetime_s=0.5))
    with pytest.raises(RuntimeLostError):
        Box(runtime).sh("sleep 20")
    runtime.close()


def test_closing_removes_the_container_and_may_be_repeated(
    spec: SandboxSpec, docker_runtimes: DockerRuntimes, client: docker.DockerClient
) -> None:
    runtime = docker_runtimes.start(spec)
    runtime.close()
    runtime.close()
    assert find(client, spec.run_id) == []


def test_a_lost_container_is_noticed_at_once(
    spec: SandboxSpec, docker_runtimes: DockerRuntimes, client: docker.DockerClient
) -> None:
    runtime = docker_runtimes.start(spec)
    (name,) = find(client, spec.run_id)
    killer = Timer(0.3, client.api.kill, [name])
    killer.start()
    with pytest.raises(RuntimeLostError):
        Box(runtime).sh("sleep 20")
    with pytest.raises(RuntimeLostError):
        Box(runtime).sh("true")
    killer.join()
    runtime.close()


def test_s53_the_clients_time_limit_is_no_limit_for_commands(
    spec: SandboxSpec, sandbox_image: str
) -> None:
    impatient = docker.from_env(timeout=1)
    runtime = DockerRuntimes(impatient, SystemClock(), sandbox_image).start(spec)
    assert Box(runtime).sh("sleep 1.5; echo quiet is not dead").exit_code == 0
    runtime.close()
    impatient.close()


def test_the_container_is_confined(
    spec: SandboxSpec, docker_runtimes: DockerRuntimes, client: docker.DockerClient
) -> None:
    runtime = docker_runtimes.start(spec)
    (name,) = find(client, spec.run_id)
    facts = client.api.inspect_container(name)
    runtime.close()
    host = facts["HostConfig"]
    assert facts["Config"]["User"] == "1000:1000"
    assert host["CapDrop"] == ["ALL"]
    assert host["SecurityOpt"] == ["no-new-privileges"]
    assert (host["ReadonlyRootfs"], host["Privileged"]) == (True, False)
    assert (host["Memory"], host["MemorySwap"]) == (512 << 20, 512 << 20)
    assert (host["PidsLimit"], host["NetworkMode"]) == (512, "none")
    assert (host["Binds"], host["PortBindings"]) == (None, None)


def test_s54_an_engine_that_is_down_fails_with_its_message_and_a_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    with pytest.raises(SandboxError, match=r"cannot reach.*systemctl start docker"):
        engine.connect()


def test_s54_an_engine_that_does_not_answer_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(f"{tmp_path}/silent.sock")
        silent.listen()
        monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/silent.sock")
        with pytest.raises(SandboxError, match="cannot reach the Docker engine"):
            engine.connect(timeout_s=0.2)


def test_s86_an_image_that_cannot_be_pulled_is_named_with_the_reason(
    spec: SandboxSpec, docker_runtimes: DockerRuntimes
) -> None:
    absent = spec.replace(image="127.0.0.1:9/none:1")
    with pytest.raises(
        SandboxError, match=r"127\.0\.0\.1:9/none:1.*connection refused"
    ):
        docker_runtimes.start(absent)


def test_an_image_without_python_is_refused_with_a_remedy(
    spec: SandboxSpec,
    empty_image: str,
    docker_runtimes: DockerRuntimes,
    client: docker.DockerClient,
) -> None:
    with pytest.raises(SandboxError, match="has no python3; choose one with"):
        docker_runtimes.start(spec.replace(image=empty_image))
    assert find(client, spec.run_id) == []
