"""Start the proxy of a sandbox in a container beside it, and attach to it."""

from contextlib import ExitStack

import docker

from patchwright.core.clock import Clock
from patchwright.core.runtime import SandboxSpec
from patchwright.sandbox.archive import pack_proxy
from patchwright.sandbox.connection import ServerConnection
from patchwright.sandbox.docker import birth, engine, proxy
from patchwright.sandbox.docker.stream import ContainerStream
from patchwright.sandbox.egress import launch
from patchwright.sandbox.egress.gateway import Gateway


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
        return birth.create(
            self._client,
            self._image,
            command=launch.command_line("python3", proxy.ARCHIVE, proxy.MEETING, spec),
            volume=proxy.FOLDER,
            labels=proxy.proxy_labels(spec, self._clock.now()),
            host=proxy.describe_proxy_host(spec, self._client.api.api_version),
        )

    def open(self, spec: SandboxSpec, name: str) -> Gateway:
        """Start a proxy, and wait until it answers."""
        stream = birth.start(
            self._client,
            name,
            self._image,
            volume=proxy.FOLDER,
            content=proxy.pack_proxy_folder(pack_proxy()),
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
        gateway = Gateway(connection, proxy.MEETING, spec.role)
        gateway.greet()
        undo.pop_all()
    return gateway
