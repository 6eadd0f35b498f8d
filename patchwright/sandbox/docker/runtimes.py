"""Start, find and remove sandboxes in a Docker engine."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import docker
import structlog
from docker.errors import ImageNotFound

from patchwright.core.clock import Clock
from patchwright.core.errors import SandboxError
from patchwright.core.runtime import SandboxSpec
from patchwright.sandbox import launch
from patchwright.sandbox.archive import pack_action_server
from patchwright.sandbox.connection import Connection
from patchwright.sandbox.docker import container, engine
from patchwright.sandbox.docker.stream import ContainerStream
from patchwright.sandbox.images import DEFAULT_IMAGE
from patchwright.sandbox.served import ServedRuntime

log = structlog.get_logger()

NO_PYTHON = re.compile(r"python3.*(?:not found|no such file)", re.DOTALL)


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

    def start(self, spec: SandboxSpec) -> ServedRuntime:
        spec = spec.model_copy(update={"image": spec.image or self._image})
        name = self._create(spec)
        with ExitStack() as undo:
            undo.callback(self._let_go, name)
            stream = self._start(spec, name)
            undo.callback(stream.close)
            runtime = self._serve(spec, name, stream)
            runtime.greet()
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
            self._let_go(found.name)
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

    def close(self) -> None:
        self._client.close()

    def _create(self, spec: SandboxSpec) -> str:
        with engine.in_our_words(f"cannot create a sandbox from {spec.image}"):
            try:
                return self._create_from_local_image(spec)
            except ImageNotFound:
                engine.pull(self._client, spec.image)
            return self._create_from_local_image(spec)

    def _create_from_local_image(self, spec: SandboxSpec) -> str:
        config = launch.confined_by_engine(spec, container.WORKSPACE)
        created = self._client.api.create_container(
            image=spec.image,
            # In place of the image's own entry point.
            entrypoint=launch.command_line("python3", container.ARCHIVE, config),
            user=f"{container.USER}:{container.USER}",
            hostname="sandbox",
            working_dir="/",
            stdin_open=True,
            # Or docker-py has standard input end with the first worker that goes.
            detach=True,
            volumes=[container.WORKSPACE],
            labels=container.label(spec, self._clock.now()),
            host_config=container.describe_host(spec, self._client.api.api_version),
            healthcheck={"test": ["NONE"]},
            # Or the client passes on proxies of its user, with their passwords.
            use_config_proxy=False,
        )
        return str(created["Id"])

    def _start(self, spec: SandboxSpec, name: str) -> ContainerStream:
        api = self._client.api
        with ExitStack() as undo, _in_words_about(spec.image):
            content = container.pack_workspace(pack_action_server())
            api.put_archive(name, container.WORKSPACE, content)
            stream = ContainerStream(api, name)
            undo.callback(stream.close)
            api.start(name)
            undo.pop_all()
        return stream

    def _take_over(
        self, spec: SandboxSpec, found: engine.Found
    ) -> ServedRuntime | None:
        """Return the sandbox in a container if its server answers in time."""
        if found.state != "running":
            return None
        with ExitStack() as undo:
            try:
                with engine.in_our_words("cannot attach to the sandbox"):
                    stream = ContainerStream(self._client.api, found.name)
                undo.callback(stream.close)
                runtime = self._serve(spec, found.name, stream)
                runtime.take_over()
            except SandboxError as error:
                log.warning(
                    "sandbox_not_attached", container=found.name, reason=str(error)
                )
                return None
            undo.pop_all()
        return runtime

    def _serve(
        self, spec: SandboxSpec, name: str, stream: ContainerStream
    ) -> ServedRuntime:
        return ServedRuntime(
            kind=self.kind,
            connection=Connection(stream),
            command_timeout_s=spec.command_timeout_s,
            remove=lambda: self._let_go(name),
            leave=lambda: None,
        )

    def _let_go(self, name: str) -> None:
        """Remove a sandbox after its work; a run must not fail for that."""
        try:
            engine.remove(self._client, name)
        except SandboxError as error:
            # It ends by itself, or the reaper comes for it.
            log.warning("sandbox_not_removed", container=name, reason=str(error))

    def _remove_all(self, found: list[engine.Found]) -> int:
        for one in found:
            engine.remove(self._client, one.name)
        return len(found)


@contextmanager
def _in_words_about(image: str) -> Iterator[None]:
    try:
        with engine.in_our_words(f"cannot start a sandbox from {image}"):
            yield
    except SandboxError as error:
        if not NO_PYTHON.search(str(error)):
            raise
        text = f"the image {image} has no python3; choose one with Python 3.8 or newer"
        raise SandboxError(text) from error
