"""The few requests we make to a Docker engine, and its errors in our words."""

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

import docker
from docker.errors import APIError, DockerException, NotFound
from docker.utils import kwargs_from_env

from patchwright.core.errors import SandboxError

# For requests to the engine only; no command of a sandbox ever waits on it.
REQUEST_S = 60
# The engine removes a container by itself when it ends; both may happen at once.
BEING_REMOVED = 409
REMOVAL_S = 20

DEFAULT_SOCKET = "unix:///var/run/docker.sock"
UNIX_SCHEMES = ("unix", "http+unix")

REMEDY = "start Docker (systemctl start docker), or set sandbox.kind to local"


class ContainerInfo(NamedTuple):
    """A container in whatever state: `running`, `exited`, and so on."""

    name: str
    labels: Mapping[str, str]
    state: str


def connect(timeout_s: float = REQUEST_S) -> docker.DockerClient:
    """Return a client of the engine that the usual `DOCKER_*` variables name."""
    with as_sandbox_errors("cannot reach the Docker engine"):
        settings = kwargs_from_env()
        _knock(settings.get("base_url", DEFAULT_SOCKET), timeout_s)
        client = docker.DockerClient(timeout=timeout_s, **settings)
        client.api.timeout = REQUEST_S
        return client


def _knock(url: str, timeout_s: float) -> None:
    """Raise `OSError` if nobody listens there; docker-py would leak a socket then."""
    scheme, _, path = url.partition("://")
    if scheme in UNIX_SCHEMES:
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(timeout_s)
            probe.connect(path)


@contextmanager
def as_sandbox_errors(failed: str) -> Iterator[None]:
    """Raise errors of the engine, and of the way to it, as `SandboxError`."""
    try:
        yield
    except APIError as error:
        raise SandboxError(f"{failed}: {error.explanation or error}") from error
    # Those of the HTTP client underneath are OSErrors.
    except (DockerException, OSError) as error:
        raise SandboxError(f"{failed}: {error}; {REMEDY}") from error


def pull(client: docker.DockerClient, image: str) -> None:
    """Fetch an image from its registry; raise `SandboxError` with its words."""
    failed = (
        f"cannot pull the sandbox image {image} (sandbox.image names another one, and "
        'sandbox.kind = "local" takes none)'
    )
    with as_sandbox_errors(failed):
        lines = list(client.api.pull(image, stream=True, decode=True))
    errors = [str(line["error"]) for line in lines if "error" in line]
    if errors:
        raise SandboxError(f"{failed}: {'; '.join(errors)}")


def find(client: docker.DockerClient, *labels: str) -> list[ContainerInfo]:
    """Return the containers that carry all these labels."""
    with as_sandbox_errors("cannot list the sandboxes"):
        listed = client.api.containers(all=True, filters={"label": list(labels)})
    return [
        ContainerInfo(one["Id"], one.get("Labels") or {}, str(one.get("State", "")))
        for one in listed
    ]


def remove(client: docker.DockerClient, name: str) -> None:
    """Remove a container with its volumes, whatever it does; gone already is fine."""
    with as_sandbox_errors(f"cannot remove the container {name}"):
        try:
            client.api.remove_container(name, force=True, v=True)
        except NotFound:
            return
        except APIError as error:
            if error.status_code != BEING_REMOVED:
                raise
            _wait_until_removed(client, name)


def _wait_until_removed(client: docker.DockerClient, name: str) -> None:
    try:
        client.api.wait(name, timeout=REMOVAL_S, condition="removed")
    except NotFound:
        return
