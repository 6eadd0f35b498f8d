"""The containers of a sandbox and its proxy: how they are made and started."""

import io
import re
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from typing import Any, Final

import docker
from docker.errors import ImageNotFound
from docker.types import HostConfig, LogConfig

from patchwright.core.runtime import SandboxSpec
from patchwright.core.system.clock import Clock
from patchwright.core.types.errors import SandboxError
from patchwright.sandbox.docker import engine
from patchwright.sandbox.docker.engine import ContainerStream
from patchwright.sandbox.host import gateway as launch
from patchwright.sandbox.host.bootstrap import pack_proxy, read_size
from patchwright.sandbox.host.gateway import Gateway
from patchwright.sandbox.host.server_connection import ServerConnection

USER = 1000
WORKSPACE = "/workspace"
ARCHIVE = f"{WORKSPACE}/.patchwright/server.pyz"

RUN_LABEL = "patchwright.run"
ROLE_LABEL = "patchwright.role"
MANAGED_LABEL = "patchwright.managed"
EXPIRES_LABEL = "patchwright.expires-at"
# On a sandbox: the container that is its way out.
PROXY_LABEL = "patchwright.proxy"

# The server ends the sandbox itself; who is older than this has a server that cannot.
GRACE = timedelta(minutes=2)
CPU_PERIOD_US = 100_000

# How each container of ours is cut off, whatever it is for.
CONFINED: Final[Mapping[str, Any]] = {
    "auto_remove": True,
    "cap_drop": ["ALL"],
    "security_opt": ["no-new-privileges"],
    "read_only": True,
    # An engine with fewer CPUs refuses a number of them, but takes a quota.
    "cpu_period": CPU_PERIOD_US,
    "log_config": LogConfig(type=LogConfig.types.NONE),
}


def describe_host(spec: SandboxSpec, version: str, proxy: str = "") -> HostConfig:
    """Return what a container may use, and how it is cut off from the rest.

    It sees the folder of its `proxy`, if it has one.
    """
    memory = read_size(spec.memory)
    return HostConfig(
        version=version,
        **CONFINED,
        # Its own, with nobody in it: the proxy is the one way out.
        network_mode="none",
        volumes_from=[f"{proxy}:ro"] if proxy else None,
        mem_limit=memory,
        memswap_limit=memory,
        pids_limit=spec.max_processes,
        cpu_quota=int(spec.cpus * CPU_PERIOD_US),
        tmpfs={"/tmp": f"rw,exec,nosuid,nodev,mode=1777,size={memory // 2}"},  # noqa: S108 - the container's own
        runtime=spec.engine_runtime or None,
    )


def label(spec: SandboxSpec, now: datetime) -> dict[str, str]:
    expires_at = now + timedelta(seconds=spec.lifetime_s) + GRACE
    return {
        MANAGED_LABEL: "1",
        RUN_LABEL: spec.run_id,
        ROLE_LABEL: spec.role,
        EXPIRES_LABEL: expires_at.isoformat(),
    }


def has_expired(labels: Mapping[str, str], now: datetime) -> bool:
    """Tell whether a container's time is over; one without a readable time is."""
    try:
        return datetime.fromisoformat(labels[EXPIRES_LABEL]) <= now
    except (KeyError, ValueError, TypeError):
        return True


def pack_workspace(archive: bytes) -> bytes:
    """Return the tar that fills the new volume at `/workspace`.

    The volume belongs to root, and the sandbox's user may add to it like to /tmp, so
    that the server's file stays what it is.
    """
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        # Docker passes over an entry for the folder it unpacks into unless that has a
        # name, and then takes owner and mode from it.
        add_folder(tar, f"..{WORKSPACE}", 0, 0o1777)
        add_folder(tar, ".patchwright", 0, 0o755)
        for name in ("repo", "home", "logs"):
            add_folder(tar, name, USER, 0o755)
        add_program(tar, ".patchwright/server.pyz", archive)
    return packed.getvalue()


def add_program(tar: tarfile.TarFile, name: str, archive: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(archive)
    entry.mode = 0o444
    tar.addfile(entry, io.BytesIO(archive))


def add_folder(tar: tarfile.TarFile, name: str, owner: int, mode: int) -> None:
    entry = tarfile.TarInfo(name)
    entry.type = tarfile.DIRTYPE
    entry.uid = entry.gid = owner
    entry.mode = mode
    tar.addfile(entry)


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
            user=f"{USER}:{USER}",
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


# The volume that a proxy shares with its sandbox, which may not write there.
FOLDER: Final = "/egress"
PROXY_ARCHIVE: Final = f"{FOLDER}/proxy.pyz"
MEETING: Final = f"{FOLDER}/meeting.sock"
ROLE: Final = "proxy"

_MEMORY: Final = 256 << 20
# Two threads for each of its visits, and its own.
_MAX_THREADS: Final = 256
_CPU_QUOTA: Final = CPU_PERIOD_US


def describe_proxy_host(spec: SandboxSpec, version: str) -> HostConfig:
    """Return what a proxy may use: the network, and little else."""
    return HostConfig(
        version=version,
        **CONFINED,
        network_mode="bridge",
        mem_limit=_MEMORY,
        memswap_limit=_MEMORY,
        pids_limit=_MAX_THREADS,
        cpu_quota=_CPU_QUOTA,
        runtime=spec.engine_runtime or None,
    )


def proxy_labels(spec: SandboxSpec, now: datetime) -> dict[str, str]:
    return label(spec, now) | {ROLE_LABEL: ROLE}


def pack_proxy_folder(archive: bytes) -> bytes:
    """Return the tar that fills the new volume: nobody but our user looks into it."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        add_folder(tar, f"..{FOLDER}", USER, 0o700)
        add_program(tar, "proxy.pyz", archive)
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
        return create(
            self._client,
            self._image,
            command=launch.command_line("python3", PROXY_ARCHIVE, MEETING, spec),
            volume=FOLDER,
            labels=proxy_labels(spec, self._clock.now()),
            host=describe_proxy_host(spec, self._client.api.api_version),
        )

    def open(self, spec: SandboxSpec, name: str) -> Gateway:
        """Start a proxy, and wait until it answers."""
        stream = start(
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
