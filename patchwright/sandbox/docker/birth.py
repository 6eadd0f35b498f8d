"""Make a container of ours, fill its volume, and start the program in it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Final

import docker
from docker.errors import ImageNotFound
from docker.types import HostConfig

from patchwright.core.errors import SandboxError
from patchwright.sandbox.docker import container, engine
from patchwright.sandbox.docker.stream import ContainerStream

NO_PYTHON: Final = re.compile(r"python3.*(?:not found|no such file)", re.DOTALL)


def create(
    client: docker.DockerClient,
    image: str,
    *,
    command: Sequence[str],
    volume: str,
    labels: Mapping[str, str],
    host: HostConfig,
) -> str:
    """Return the id of a new container; fetch its image where the engine has none."""

    def attempt() -> str:
        created = client.api.create_container(
            image=image,
            # In place of the image's own entry point.
            entrypoint=list(command),
            user=f"{container.USER}:{container.USER}",
            hostname="sandbox",
            working_dir="/",
            stdin_open=True,
            # Or docker-py has standard input end with the first worker that goes.
            detach=True,
            volumes=[volume],
            labels=_empty_labels(client, image) | dict(labels),
            host_config=host,
            healthcheck={"test": ["NONE"]},
            # Or the client passes on proxies of its user, with their passwords.
            use_config_proxy=False,
        )
        return str(created["Id"])

    with engine.as_sandbox_errors(f"cannot create a sandbox from {image}"):
        try:
            return attempt()
        except ImageNotFound:
            engine.pull(client, image)
        return attempt()


def _empty_labels(client: docker.DockerClient, image: str) -> dict[str, str]:
    """Return the labels of an image without their values.

    A container inherits them, and others go by labels too: a repository's image must
    not make its sandbox a part of their services, nor name a proxy to us.
    """
    config = client.api.inspect_image(image).get("Config") or {}
    return dict.fromkeys(config.get("Labels") or (), "")


def start(
    client: docker.DockerClient, name: str, image: str, *, volume: str, content: bytes
) -> ContainerStream:
    """Start a new container whose volume holds what the tar has, and attach to it."""
    with ExitStack() as undo, _as_image_errors(image):
        client.api.put_archive(name, volume, content)
        stream = ContainerStream(client.api, name)
        undo.callback(stream.close)
        client.api.start(name)
        undo.pop_all()
    return stream


@contextmanager
def _as_image_errors(image: str) -> Iterator[None]:
    try:
        with engine.as_sandbox_errors(f"cannot start a sandbox from {image}"):
            yield
    except SandboxError as error:
        if not NO_PYTHON.search(str(error)):
            raise
        text = f"the image {image} has no python3; choose one with Python 3.8 or newer"
        raise SandboxError(text) from error
