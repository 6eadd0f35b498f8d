"""Sandboxes on this machine, made by bubblewrap or by nothing: child processes all."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Thread
from typing import IO, Final

import structlog

from patchwright.core.runtime import HostPlaces, SandboxSpec
from patchwright.core.types.errors import SandboxError
from patchwright.sandbox.host import bootstrap
from patchwright.sandbox.host import gateway as launch
from patchwright.sandbox.host.bootstrap import pack_action_server, pack_proxy
from patchwright.sandbox.host.gateway import Gateway, with_proxy
from patchwright.sandbox.host.served_runtime import ServedRuntime
from patchwright.sandbox.host.server_connection import ServerConnection
from patchwright.sandbox.local import isolation
from patchwright.sandbox.local.folders import (
    SandboxFolder,
    create_folder,
    find_abandoned,
)
from patchwright.sandbox.local.host_places import bindings_of
from patchwright.sandbox.local.isolation import Binding, DataFile, filter_program

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
    """What factories have in common whose sandboxes end with their worker.

    Such a sandbox leaves a folder. One that cannot be removed does not keep the others.
    """

    def attach(self, spec: SandboxSpec) -> ServedRuntime | None:  # noqa: ARG002 - the protocol's
        """Find nothing: these sandboxes end with the worker that started them."""
        return None

    def remove(self, run_id: str) -> int:
        return sum(folder.remove() for folder in find_abandoned(run_id))

    def reap(self) -> int:
        return sum(folder.remove() for folder in find_abandoned())


ROOT = Path("/")
# Only what lies under /usr is seen from inside.
SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"
# Root keeps its number towards the kernel even in a namespace, and the machine's files
# belong to that number; so root's sandboxes are nobody's.
NOBODY = 65534
PROBE_S = 10.0


class BubblewrapRuntimes(LocalRuntimes):
    """Starts sandboxes that see /usr and little else; see `RuntimeFactory`."""

    kind = "bubblewrap"

    def start(self, spec: SandboxSpec) -> ServedRuntime:
        python = _find("python3")
        config = bootstrap.confined_by_limits(with_proxy(spec), isolation.WORKSPACE)
        server = bootstrap.command_line(python, isolation.ARCHIVE, config)
        folder = create_folder(spec.run_id, _user())
        with ExitStack() as undo:
            undo.callback(folder.remove)
            proxy = (
                start_proxy(spec, folder, python, _user())
                if spec.has_network_access
                else None
            )
            if proxy:
                undo.callback(proxy.stop)
            stream = _start(spec, folder, server)
            undo.pop_all()
        return serve_runtime(self.kind, spec, folder, stream, proxy)


def why_unavailable() -> str:
    """Return why bubblewrap does not work on this machine, or an empty text."""
    try:
        _try_out(_find("bwrap"), _find("python3"))
    except (SandboxError, OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return ""


@cache
def _try_out(bubblewrap: str, python: str) -> None:
    """Raise unless a sandbox starts; what has worked once is not tried again."""
    ran = subprocess.run(
        [
            bubblewrap,
            *isolation.isolate(),
            *isolation.show_system(ROOT),
            *("--", python, "-I", "-S", "-c", ""),
        ],
        capture_output=True,
        env={},
        timeout=PROBE_S,
        check=False,
        user=_user(),
        group=_user(),
        extra_groups=[] if _user() else None,
    )
    if ran.returncode:
        raise SandboxError(ran.stderr.decode(errors="replace").strip())


def _start(
    spec: SandboxSpec, folder: SandboxFolder, server: Sequence[str]
) -> ProcessStream:
    files = [
        DataFile("/etc/passwd", isolation.PASSWD),
        DataFile("/etc/group", isolation.GROUP),
        DataFile("/etc/hosts", isolation.HOSTS),
        DataFile(isolation.ARCHIVE, pack_action_server()),
        *(DataFile(path, b"") for path in spec.places.masked),
    ]
    folders = [
        Binding(folder.workspace, isolation.WORKSPACE),
        Binding(folder.tmp, "/tmp"),  # noqa: S108 - this is the sandbox's own /tmp
    ]
    with ExitStack() as open_files:
        shown = (
            [Binding(folder.egress, MEETING_FOLDER)] if spec.has_network_access else []
        )
        if spec.places.checkout:
            folders.append(_clone_at_its_checkout(folder, spec.places))
        shown += bindings_of(spec.places, isolation.WORKSPACE)
        data = [(_open(open_files, file.content), file) for file in files]
        refused = [_open(open_files, one) for one in (filter_program(),) if one]
        command = [
            _find("bwrap"),
            *isolation.isolate(),
            *(word for fd in refused for word in ("--seccomp", str(fd))),
            *isolation.show_system(ROOT),
            *isolation.bound_memory_files(bootstrap.read_size(spec.memory)),
            *isolation.show_own(data, folders, shown),
            "--",
            *server,
        ]
        passed = [*refused, *(fd for fd, _ in data)]
        return start_process(command, user=_user(), pass_fds=passed)


def _clone_at_its_checkout(folder: SandboxFolder, places: HostPlaces) -> Binding:
    """Return where the clone is seen too; its folder must be there before it."""
    clone = folder.workspace / isolation.CLONE
    clone.mkdir(mode=0o700)
    if (user := _user()) is not None:
        os.chown(clone, user, user)
    return Binding(clone, places.checkout)


def _open(open_files: ExitStack, content: bytes) -> int:
    """Return the file descriptor of a file without a name that holds the content."""
    fd = os.memfd_create("patchwright")
    open_files.callback(os.close, fd)
    os.pwrite(fd, content, 0)
    return fd


def _find(program: str) -> str:
    path = shutil.which(program, path=SYSTEM_PATH)
    if path is None:
        raise SandboxError(
            f"{program} is not installed under /usr: install it with the system's"
            " package manager, or use Docker"
        )
    return path


def _user() -> int | None:
    return NOBODY if os.geteuid() == 0 else None


log = structlog.get_logger()


class UnconfinedRuntimes(LocalRuntimes):
    """Only for those who ask for it by name; see `RuntimeFactory`.

    The environment is empty here too, but files and network of this machine are open.
    """

    kind = "unconfined"

    def start(self, spec: SandboxSpec) -> ServedRuntime:
        if spec.domains:
            raise SandboxError(
                "sandbox.network: a list of hosts does not work with "
                'sandbox.kind "unconfined"; use Docker or bubblewrap'
            )
        log.warning("sandbox_is_unconfined", run_id=spec.run_id)
        folder = create_folder(spec.run_id, None)
        archive = folder.path / "server.pyz"
        archive.write_bytes(pack_action_server())
        config = bootstrap.confined_by_limits(spec, str(folder.workspace))
        # The kernel counts all processes of the user, those outside too.
        config = config._replace(max_processes=0)
        command = bootstrap.command_line(sys.executable, str(archive), config)
        with ExitStack() as undo:
            undo.callback(folder.remove)
            stream = start_process(command)
            undo.pop_all()
        return serve_runtime(self.kind, spec, folder, stream)
