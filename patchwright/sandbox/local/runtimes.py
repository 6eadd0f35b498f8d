"""Sandboxes with Linux namespaces by bubblewrap, or commands without a sandbox."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import structlog

from patchwright.core.errors import SandboxError
from patchwright.core.runtime import SandboxSpec
from patchwright.sandbox import bootstrap
from patchwright.sandbox.bootstrap import pack_action_server
from patchwright.sandbox.egress.gateway import with_proxy
from patchwright.sandbox.local import isolation
from patchwright.sandbox.local.folders import SandboxFolder, create_folder
from patchwright.sandbox.local.isolation import Binding, DataFile, filter_program
from patchwright.sandbox.local.server_process import (
    MEETING_FOLDER,
    LocalRuntimes,
    ProcessStream,
    serve_runtime,
    start_process,
    start_proxy,
)
from patchwright.sandbox.served_runtime import ServedRuntime

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
        DataFile(isolation.ARCHIVE, pack_action_server()),
    ]
    folders = [
        Binding(folder.workspace, isolation.WORKSPACE),
        Binding(folder.tmp, "/tmp"),  # noqa: S108 - this is the sandbox's own /tmp
    ]
    with ExitStack() as open_files:
        shown = (
            [Binding(folder.egress, MEETING_FOLDER)] if spec.has_network_access else []
        )
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
