"""Start the proxy of a sandbox in a container beside it, and attach to it."""

import io
import tarfile
from contextlib import ExitStack
from datetime import datetime
from typing import Final

import docker
from docker.types import HostConfig

from patchwright.core.runtime import SandboxSpec
from patchwright.core.system.clock import Clock
from patchwright.sandbox.docker import container, engine
from patchwright.sandbox.docker.engine import ContainerStream
from patchwright.sandbox.host import gateway as launch
from patchwright.sandbox.host.bootstrap import pack_proxy
from patchwright.sandbox.host.gateway import Gateway
from patchwright.sandbox.host.server_connection import ServerConnection

# The volume that a proxy shares with its sandbox, which may not write there.
FOLDER: Final = "/egress"
ARCHIVE: Final = f"{FOLDER}/proxy.pyz"
MEETING: Final = f"{FOLDER}/meeting.sock"
ROLE: Final = "proxy"

_MEMORY: Final = 256 << 20
# Two threads for each of its visits, and its own.
_MAX_THREADS: Final = 256
_CPU_QUOTA: Final = container.CPU_PERIOD_US


def describe_proxy_host(spec: SandboxSpec, version: str) -> HostConfig:
    """Return what a proxy may use: the network, and little else."""
    return HostConfig(
        version=version,
        **container.CONFINED,
        network_mode="bridge",
        mem_limit=_MEMORY,
        memswap_limit=_MEMORY,
        pids_limit=_MAX_THREADS,
        cpu_quota=_CPU_QUOTA,
        runtime=spec.engine_runtime or None,
    )


def proxy_labels(spec: SandboxSpec, now: datetime) -> dict[str, str]:
    return container.label(spec, now) | {container.ROLE_LABEL: ROLE}


def pack_proxy_folder(archive: bytes) -> bytes:
    """Return the tar that fills the new volume: nobody but our user looks into it."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        container.add_folder(tar, f"..{FOLDER}", container.USER, 0o700)
        container.add_program(tar, "proxy.pyz", archive)
    return packed.getvalue()


class ProxyContainers:
    """One container a proxy.

    It is made from the service's own image: a repository chooses the image of its
    sandbox, and must not choose who watches over it.
    """

    def __init__(self, client: docker.DockerClient, clock: Clock, image: str) -> None:
        self._client = client
        self._clock = clock
        self._image = image

    def create(self, spec: SandboxSpec) -> str:
        """Return the container of a proxy that is yet to be opened."""
        return container.create(
            self._client,
            self._image,
            command=launch.command_line("python3", ARCHIVE, MEETING, spec),
            volume=FOLDER,
            labels=proxy_labels(spec, self._clock.now()),
            host=describe_proxy_host(spec, self._client.api.api_version),
        )

    def open(self, spec: SandboxSpec, name: str) -> Gateway:
        """Start a proxy, and wait until it answers."""
        stream = container.start(
            self._client,
            name,
            self._image,
            volume=FOLDER,
            content=pack_proxy_folder(pack_proxy()),
        )
        return _greeted(spec, stream)

    def attach(self, spec: SandboxSpec, name: str) -> Gateway:
        """Return a proxy that runs; raise `SandboxError` if it does not answer."""
        with engine.as_sandbox_errors("cannot attach to the sandbox's proxy"):
            stream = ContainerStream(self._client.api, name)
        return _greeted(spec, stream)


def _greeted(spec: SandboxSpec, stream: ContainerStream) -> Gateway:
    connection = ServerConnection(stream)
    with ExitStack() as undo:
        undo.callback(connection.close)
        connection.resynchronise()
        gateway = Gateway(connection, MEETING, spec.role)
        gateway.greet()
        undo.pop_all()
    return gateway
