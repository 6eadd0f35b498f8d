"""The few requests we make to a Docker engine, its streams and its errors."""

import io
import os
import shutil
import socket
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from functools import cached_property
from pathlib import PurePosixPath
from typing import IO, Final, NamedTuple

import docker
from docker.errors import APIError, DockerException, ImageNotFound, NotFound
from docker.utils import kwargs_from_env

from patchwright.core.types.errors import SandboxError

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
        f"cannot pull the sandbox image {image} (set another one in sandbox.image, or "
        'use sandbox.kind = "local", which needs no image)'
    )
    with as_sandbox_errors(failed):
        lines = list(client.api.pull(image, stream=True, decode=True))
    errors = [str(line["error"]) for line in lines if "error" in line]
    if errors:
        raise SandboxError(f"{failed}: {'; '.join(errors)}")


def why_not_available(client: docker.DockerClient, image: str) -> str:
    """Return why the engine has no such image and cannot pull it, or an empty text.

    Its registry is asked for the description alone, which takes a second.
    """
    try:
        client.api.inspect_image(image)
    except ImageNotFound:
        return _why_not_in_registry(client, image)
    except (DockerException, OSError) as error:
        return _words_of(error)
    return ""


def _why_not_in_registry(client: docker.DockerClient, image: str) -> str:
    try:
        client.api.inspect_distribution(image)
    except (DockerException, OSError) as error:
        return _words_of(error)
    return ""


def _words_of(error: Exception) -> str:
    told = error.explanation if isinstance(error, APIError) else None
    return str(told or error)


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


_PROBE_S: Final = 2


def has_image(image: str) -> bool:
    """Tell whether it can be started without a pull. Raises `SandboxError`."""
    with (
        as_sandbox_errors(f"cannot look for the image {image}"),
        closing(connect(_PROBE_S)) as client,
    ):
        try:
            client.api.inspect_image(image)
        except ImageNotFound:
            return False
        return True


# https://docs.docker.com/reference/api/engine/version/v1.41/#tag/Container/operation/ContainerAttach
HEADER = 8
STDERR = 2


class Outputs(NamedTuple):
    stdout: bytes
    stderr: bytes


class Demultiplexer:
    """Frames of `[kind, 0, 0, 0, size (4 bytes)]` and data, cut anywhere."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Outputs:
        parts: dict[bool, list[bytes]] = {True: [], False: []}
        data = self._rest + data
        start = 0
        while len(data) - start >= HEADER:
            end = start + HEADER + int.from_bytes(data[start + 4 : start + 8])
            if len(data) < end:
                break
            parts[data[start] == STDERR].append(data[start + HEADER : end])
            start = end
        self._rest = data[start:]
        return Outputs(b"".join(parts[False]), b"".join(parts[True]))


CHUNK = 1 << 16
LAST_WORDS = 4000


class ContainerStream:
    """See `connection.ServerStream`. Closing it leaves the container as it is."""

    def __init__(self, api: docker.APIClient, container: str) -> None:
        params = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
        self._wrapper = api.attach_socket(container, params=params)
        self._socket: socket.socket = getattr(self._wrapper, "_sock", self._wrapper)
        # The client's own limit would cut off a command that is silent for a while.
        self._socket.settimeout(None)
        self._frames = Demultiplexer()
        self._words = b""

    def read(self) -> bytes:
        while data := self._socket.recv(CHUNK):
            outputs = self._frames.feed(data)
            self._words = (self._words + outputs.stderr)[-LAST_WORDS:]
            if outputs.stdout:
                return outputs.stdout
        return b""

    def write(self, data: bytes) -> None:
        self._socket.sendall(data)

    def last_words(self) -> str:
        return self._words.decode(errors="replace")

    def close(self) -> None:
        """Wake up a reader and close; harmless when the engine did it before."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._wrapper.close()
        self._socket.close()


_FILE_CHUNK: Final = 1 << 20


class ContainerFiles:
    """Carries a file as an archive of one; see `core.runtime.LargeFiles`."""

    def __init__(self, client: docker.DockerClient, name: str, user: int) -> None:
        self._client, self._name, self._user = client, name, user

    @cached_property
    def origin(self) -> str:
        """The id of the image: a tag may mean another one tomorrow."""
        with as_sandbox_errors("cannot inspect the sandbox"):
            return str(self._client.api.inspect_container(self._name)["Image"])

    def copy_out(self, path: str, target: IO[bytes], max_bytes: int) -> None:
        failed = f"cannot copy {path} from the sandbox"
        with as_sandbox_errors(failed):
            pieces, _ = self._client.api.get_archive(self._name, path, _FILE_CHUNK)
            try:
                with tarfile.open(fileobj=_Pieces(pieces), mode="r|") as archive:
                    _copy_only_file(archive, path, target, max_bytes)
            except tarfile.TarError as error:
                raise SandboxError(f"{failed}: {error}") from error

    def copy_in(self, source: IO[bytes], path: str) -> None:
        target = PurePosixPath(path)
        packed = _as_archive(source, target.name, self._user)
        with as_sandbox_errors(f"cannot copy {path} into the sandbox"):
            self._client.api.put_archive(self._name, str(target.parent), packed)


def _copy_only_file(
    archive: tarfile.TarFile, path: str, target: IO[bytes], max_bytes: int
) -> None:
    member = archive.next()
    content = archive.extractfile(member) if member and member.isreg() else None
    if member is None or content is None:
        raise SandboxError(f"{path} in the sandbox is not a plain file")
    if member.size > max_bytes:
        text = f"{path} has {member.size} bytes; at most {max_bytes} are allowed"
        raise SandboxError(text)
    shutil.copyfileobj(content, target, _FILE_CHUNK)


def _as_archive(source: IO[bytes], name: str, user: int) -> Iterator[bytes]:
    """Yield an archive with one file, which is nowhere as a whole."""
    entry = tarfile.TarInfo(name)
    entry.size = os.fstat(source.fileno()).st_size
    entry.mode, entry.uid, entry.gid = 0o600, user, user
    yield entry.tobuf(tarfile.GNU_FORMAT)
    while piece := source.read(_FILE_CHUNK):
        yield piece
    padding = -entry.size % tarfile.BLOCKSIZE
    yield bytes(padding + 2 * tarfile.BLOCKSIZE)


class _Pieces(io.RawIOBase):
    """Pieces of bytes, read like a file."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if not self._rest:
            self._rest = next(self._pieces, b"")
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size
