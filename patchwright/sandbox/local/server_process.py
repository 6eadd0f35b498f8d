"""An action server and its proxy as child processes, and the runtime with both."""

import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass
from threading import Thread
from typing import IO, Final

from patchwright.core.errors import SandboxError
from patchwright.core.runtime import SandboxSpec
from patchwright.sandbox.bootstrap import pack_proxy
from patchwright.sandbox.egress import gateway as launch
from patchwright.sandbox.egress.gateway import Gateway
from patchwright.sandbox.local.folders import SandboxFolder, find_abandoned
from patchwright.sandbox.served_runtime import ServedRuntime
from patchwright.sandbox.server_connection import ServerConnection

CHUNK = 1 << 16
END_S = 5.0
LAST_WORDS = 4000


class ProcessStream:
    """Standard input and output of a process; see `connection.ServerStream`."""

    def __init__(self, process: subprocess.Popen[bytes], errors: IO[bytes]) -> None:
        self._process = process
        self._errors = errors
        self._words = ""
        if process.stdin is None or process.stdout is None:
            raise SandboxError("the action server was started without its pipes")
        self._stdin = process.stdin
        self._stdout = process.stdout

    def read(self) -> bytes:
        return os.read(self._stdout.fileno(), CHUNK)

    def write(self, data: bytes) -> None:
        if self._stdin.closed:
            raise BrokenPipeError
        rest = memoryview(data)
        while rest:
            rest = rest[self._stdin.write(rest) :]

    def last_words(self) -> str:
        if not self._errors.closed:
            size = os.fstat(self._errors.fileno()).st_size
            start = max(size - LAST_WORDS, 0)
            words = os.pread(self._errors.fileno(), LAST_WORDS, start)
            self._words = words.decode(errors="replace")
        return self._words

    def close(self) -> None:
        """Let the server end by closing its input; kill it if it does not."""
        self._stdin.close()
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def release(self) -> None:
        """Close what is still open, once nobody reads any more."""
        self.last_words()
        self._stdout.close()
        self._errors.close()


def start_process(
    command: Sequence[str],
    *,
    user: int | None = None,
    pass_fds: Sequence[int] = (),
) -> ProcessStream:
    """Start a command with an empty environment, as `user` if that is given."""
    errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `release`

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env={},
            user=user,
            group=user,
            extra_groups=None if user is None else [],
            pass_fds=pass_fds,
            start_new_session=True,
        )

    try:
        process = _call_in_lasting_thread(start)
    except OSError as error:
        errors.close()
        raise SandboxError(f"cannot start {command[0]}: {error}") from error
    return ProcessStream(process, errors)


def _call_in_lasting_thread(
    start: Callable[[], subprocess.Popen[bytes]],
) -> subprocess.Popen[bytes]:
    """Start a process from a thread that stays until the process ends.

    A child that asks to die with its parent does so with the *thread* that started it.
    https://man7.org/linux/man-pages/man2/PR_SET_PDEATHSIG.2const.html
    """
    started: Future[subprocess.Popen[bytes]] = Future()

    def own() -> None:
        try:
            process = start()
        except OSError as error:
            started.set_exception(error)
            return
        started.set_result(process)
        process.wait()

    Thread(target=own, daemon=True).start()
    return started.result()


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
    return ProxyProcess(
        Gateway(ServerConnection(stream), seen_inside, spec.role), stream
    )


def serve_runtime(
    kind: str,
    spec: SandboxSpec,
    folder: SandboxFolder,
    stream: ProcessStream,
    proxy: ProxyProcess | None = None,
) -> ServedRuntime:
    """Return the runtime once the server answers; leave nothing behind if it fails."""

    def remove() -> None:
        stream.release()
        if proxy:
            proxy.stop()
        folder.remove()

    runtime = ServedRuntime(
        kind=kind,
        connection=ServerConnection(stream),
        command_timeout_s=spec.command_timeout_s,
        remove=remove,
        # It ends with its connection, and this with the process that has it.
        leave=remove,
    )
    with ExitStack() as undo:
        undo.callback(runtime.close)
        runtime.greet()
        if proxy:
            proxy.gateway.greet()
            runtime.reach_out(proxy.gateway)
        undo.pop_all()
    return runtime


class LocalRuntimes:
    """What factories have in common whose sandboxes end with their worker."""

    def attach(self, spec: SandboxSpec) -> ServedRuntime | None:  # noqa: ARG002 - the protocol's
        """Find nothing: these sandboxes end with the worker that started them."""
        return None

    def remove(self, run_id: str) -> int:
        return _remove_abandoned(run_id)

    def reap(self) -> int:
        return _remove_abandoned()


def _remove_abandoned(run_id: str | None = None) -> int:
    """Remove the folders of a run, or of all runs, whose owner is gone.

    One that cannot be removed does not keep the others. Their processes ended with
    the owner.
    """
    return sum(folder.remove() for folder in find_abandoned(run_id))
