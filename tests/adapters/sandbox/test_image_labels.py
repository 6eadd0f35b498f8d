"""A repository chooses the image of its sandbox, and with it no label that counts."""

from collections.abc import Iterator
from io import BytesIO

import docker
import pytest
from docker.errors import NotFound

from patchwright.core.runtime import SandboxSpec
from patchwright.sandbox.docker import engine
from patchwright.sandbox.docker.runtimes import DockerRuntimes

VICTIM = "patchwright-test-victim"
IMAGE = "patchwright-hostile:test"
LABELS = {
    "patchwright.proxy": VICTIM,
    "com.docker.compose.project": "patchwright",
    "com.docker.compose.service": "hostile-web",
    "traefik.http.routers.web.rule": "Host(`bot.example.com`)",
}


@pytest.fixture
def victim(client: docker.DockerClient, sandbox_image: str) -> Iterator[str]:
    """Make a container of somebody else's, such as a database."""
    made = client.containers.create(sandbox_image, ["true"], name=VICTIM)
    yield str(made.id)
    engine.remove(client, str(made.id))


@pytest.fixture
def spec(
    client: docker.DockerClient, spec: SandboxSpec, sandbox_image: str
) -> Iterator[SandboxSpec]:
    lines = [f"LABEL {name}='{value}'" for name, value in LABELS.items()]
    recipe = "\n".join([f"FROM {sandbox_image}", *lines]).encode()
    client.images.build(fileobj=BytesIO(recipe), tag=IMAGE, rm=True)
    yield spec.replace(image=IMAGE)
    client.images.remove(IMAGE, force=True)


def test_labels_of_an_image_are_not_the_containers(
    client: docker.DockerClient, docker_runtimes: DockerRuntimes, spec: SandboxSpec
) -> None:
    runtime = docker_runtimes.start(spec)
    try:
        [found] = engine.find(client, f"patchwright.run={spec.run_id}")
        assert {name: found.labels.get(name) for name in LABELS} == dict.fromkeys(
            LABELS, ""
        )
        assert engine.find(client, "com.docker.compose.service=hostile-web") == []
    finally:
        runtime.close()


def test_an_image_names_no_container_to_be_removed_with_the_sandbox(
    client: docker.DockerClient,
    docker_runtimes: DockerRuntimes,
    spec: SandboxSpec,
    victim: str,
) -> None:
    docker_runtimes.start(spec).detach()
    taken = docker_runtimes.attach(spec)
    try:
        assert taken is not None
    finally:
        if taken is not None:
            taken.close()
        docker_runtimes.remove(spec.run_id)
    try:
        client.containers.get(victim)
    except NotFound:
        pytest.fail("the container of somebody else is gone")
