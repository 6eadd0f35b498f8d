"""The proxy of a bubblewrap sandbox: a process of this machine."""

from dataclasses import dataclass
from typing import Final

from patchwright.core.runtime import SandboxSpec
from patchwright.sandbox.archive import pack_proxy
from patchwright.sandbox.connection import ServerConnection
from patchwright.sandbox.egress import launch
from patchwright.sandbox.egress.gateway import Gateway
from patchwright.sandbox.local.folders import SandboxFolder
from patchwright.sandbox.local.process import ProcessStream, start_process

# Seen from inside, where nothing can be written to it.
MEETING_FOLDER: Final = "/egress"
_SOCKET: Final = "meeting.sock"


@dataclass(frozen=True)
class ProxyProcess:
    """A proxy that ends with us: then its standard input does."""

    gateway: Gateway
    _stream: ProcessStream

    def stop(self) -> None:
        """End it; harmless when it has ended before."""
        self.gateway.close()
        self._stream.release()


def start_proxy(
    spec: SandboxSpec, folder: SandboxFolder, python: str, user: int | None
) -> ProxyProcess:
    """Start a proxy that waits in the folder for its sandbox."""
    archive = folder.egress / "proxy.pyz"
    archive.write_bytes(pack_proxy())
    archive.chmod(0o444)
    meeting = str(folder.egress / _SOCKET)
    command = launch.command_line(python, str(archive), meeting, spec)
    stream = start_process(command, user=user)
    seen_inside = f"{MEETING_FOLDER}/{_SOCKET}"
    return ProxyProcess(Gateway(ServerConnection(stream), seen_inside, spec.role), stream)
