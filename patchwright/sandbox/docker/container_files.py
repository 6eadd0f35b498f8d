"""Large files of a container: the engine carries them, as archives of one file."""

import io
import os
import shutil
import tarfile
from collections.abc import Iterator
from functools import cached_property
from pathlib import PurePosixPath
from typing import IO, Final

import docker

from patchwright.core.types.errors import SandboxError
from patchwright.sandbox.docker import engine
from patchwright.sandbox.docker.container import USER

_CHUNK: Final = 1 << 20


class ContainerFiles:
    """See `core.runtime.LargeFiles`."""

    def __init__(self, client: docker.DockerClient, name: str) -> None:
        self._client, self._name = client, name

    @cached_property
    def origin(self) -> str:
        """The id of the image: a tag may mean another one tomorrow."""
        with engine.as_sandbox_errors("cannot inspect the sandbox"):
            return str(self._client.api.inspect_container(self._name)["Image"])

    def copy_out(self, path: str, target: IO[bytes], max_bytes: int) -> None:
        failed = f"cannot copy {path} from the sandbox"
        with engine.as_sandbox_errors(failed):
            pieces, _ = self._client.api.get_archive(self._name, path, _CHUNK)
            try:
                with tarfile.open(fileobj=_Pieces(pieces), mode="r|") as archive:
                    _copy_only_file(archive, path, target, max_bytes)
            except tarfile.TarError as error:
                raise SandboxError(f"{failed}: {error}") from error

    def copy_in(self, source: IO[bytes], path: str) -> None:
        target = PurePosixPath(path)
        packed = _as_archive(source, target.name)
        with engine.as_sandbox_errors(f"cannot copy {path} into the sandbox"):
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
    shutil.copyfileobj(content, target, _CHUNK)


def _as_archive(source: IO[bytes], name: str) -> Iterator[bytes]:
    """Yield an archive with one file, which is nowhere as a whole."""
    entry = tarfile.TarInfo(name)
    entry.size = os.fstat(source.fileno()).st_size
    entry.mode, entry.uid, entry.gid = 0o600, USER, USER
    yield entry.tobuf(tarfile.GNU_FORMAT)
    while piece := source.read(_CHUNK):
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
