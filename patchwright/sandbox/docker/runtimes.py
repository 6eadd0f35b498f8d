"""Start, find and remove sandboxes in a Docker engine."""

from concurrent.futures import Future
from contextlib import ExitStack, suppress
from functools import partial

import docker
import structlog

from patchwright.core.runtime import SandboxSpec
from patchwright.core.system.clock import Clock, start_call
from patchwright.core.types.errors import SandboxError
from patchwright.sandbox.docker import container, engine
from patchwright.sandbox.docker.container import PROXY_LABEL, ROLE, ProxyContainers
from patchwright.sandbox.docker.engine import ContainerFiles, ContainerStream
from patchwright.sandbox.host import bootstrap
from patchwright.sandbox.host.bootstrap import DEFAULT_IMAGE, pack_action_server
from patchwright.sandbox.host.gateway import Gateway, with_proxy
from patchwright.sandbox.host.served_runtime import ServedRuntime
from patchwright.sandbox.host.server_connection import ServerConnection

log = structlog.get_logger()


class DockerRuntimes:
    """One container a sandbox; see `RuntimeFactory`.

    What an engine knows of its containers is the only list of them, so that another
    process can clean up after one that was killed.
    """

    kind = "docker"

    def __init__(
        self, client: docker.DockerClient, clock: Clock, image: str = DEFAULT_IMAGE
    ) -> None:
        self._client = client
        self._clock = clock
        self._image = image
        self._proxies = ProxyContainers(client, clock, image)

    def start(self, spec: SandboxSpec) -> ServedRuntime:
        spec = spec.replace(image=spec.image or self._image)
        if not spec.has_network_access:
            return self._start(spec)
        with ExitStack() as undo:
            proxy = self._proxies.create(spec)
            undo.callback(self._remove_quietly, proxy)
            opening = start_call(partial(self._proxies.open, spec, proxy))
            undo.callback(_close_when_opened, opening)
            runtime = self._start(with_proxy(spec), proxy)
            undo.callback(runtime.close)
            runtime.reach_out(opening.result())
            undo.pop_all()
        return runtime

    def attach(self, spec: SandboxSpec) -> ServedRuntime | None:
        labels = (
            f"{container.RUN_LABEL}={spec.run_id}",
            f"{container.ROLE_LABEL}={spec.role}",
        )
        for found in engine.find(self._client, *labels):
            runtime = self._take_over(spec, found)
            if runtime is not None:
                return runtime
            self._remove_both(found.name, found.labels.get(PROXY_LABEL, ""))
        return None

    def remove(self, run_id: str) -> int:
        label = f"{container.RUN_LABEL}={run_id}"
        return self._remove_all(engine.find(self._client, label))

    def reap(self) -> int:
        """Remove the containers whose time is over, whatever their runs."""
        now = self._clock.now()
        found = engine.find(self._client, f"{container.MANAGED_LABEL}=1")
        return self._remove_all(
            [one for one in found if container.has_expired(one.labels, now)]
        )

    def why_not_available(self) -> str:
        """Return why the image cannot be had, or an empty text."""
        return engine.why_not_available(self._client, self._image)

    def close(self) -> None:
        self._client.close()

    def _start(self, spec: SandboxSpec, proxy: str = "") -> ServedRuntime:
        name = self._create(spec, proxy)
        with ExitStack() as undo:
            undo.callback(self._remove_quietly, name)
            stream = container.start(
                self._client,
                name,
                spec.image,
                volume=container.WORKSPACE,
                content=container.pack_workspace(pack_action_server()),
            )
            undo.callback(stream.close)
            runtime = self._serve(spec, name, stream, proxy)
            runtime.greet()
            undo.pop_all()
        return runtime

    def _create(self, spec: SandboxSpec, proxy: str) -> str:
        config = bootstrap.confined_by_engine(spec, container.WORKSPACE)
        labels = container.label(spec, self._clock.now())
        return container.create(
            self._client,
            spec.image,
            command=bootstrap.command_line("python3", container.ARCHIVE, config),
            volume=container.WORKSPACE,
            labels=labels | ({PROXY_LABEL: proxy} if proxy else {}),
            host=container.describe_host(spec, self._client.api.api_version, proxy),
        )

    def _take_over(
        self, spec: SandboxSpec, found: engine.ContainerInfo
    ) -> ServedRuntime | None:
        """Return the sandbox in a container if its server answers in time."""
        if found.state != "running":
            return None
        proxy = found.labels.get(PROXY_LABEL, "")
        with ExitStack() as undo:
            try:
                with engine.as_sandbox_errors("cannot attach to the sandbox"):
                    stream = ContainerStream(self._client.api, found.name)
                undo.callback(stream.close)
                runtime = self._serve(spec, found.name, stream, proxy)
                runtime.take_over()
                if proxy:
                    runtime.use_gateway(self._proxies.attach(spec, proxy))
            except SandboxError as error:
                log.warning(
                    "sandbox_not_attached", container=found.name, reason=str(error)
                )
                return None
            undo.pop_all()
        return runtime

    def _serve(
        self, spec: SandboxSpec, name: str, stream: ContainerStream, proxy: str
    ) -> ServedRuntime:
        return ServedRuntime(
            kind=self.kind,
            connection=ServerConnection(stream),
            command_timeout_s=spec.command_timeout_s,
            remove=lambda: self._remove_both(name, proxy),
            leave=lambda: None,
            large_files=ContainerFiles(self._client, name, container.USER),
        )

    def _remove_both(self, name: str, proxy: str) -> None:
        going = start_call(partial(self._remove_quietly, proxy)) if proxy else None
        self._remove_quietly(name)
        if going:
            going.result()

    def _remove_quietly(self, name: str) -> None:
        """Remove a container after its work; a run must not fail for that."""
        try:
            engine.remove(self._client, name)
        except SandboxError as error:
            # It ends by itself, or the reaper comes for it.
            log.warning("sandbox_not_removed", container=name, reason=str(error))

    def _remove_all(self, found: list[engine.ContainerInfo]) -> int:
        """Remove them, and return how many of them are sandboxes."""
        for one in found:
            engine.remove(self._client, one.name)
        return sum(one.labels.get(container.ROLE_LABEL) != ROLE for one in found)


def _close_when_opened(opening: "Future[Gateway]") -> None:
    """Wait for a proxy that is not wanted any more: both its ends must be closed."""
    with suppress(SandboxError):
        opening.result().close()
