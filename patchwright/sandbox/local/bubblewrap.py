"""Sandboxes made of Linux namespaces by bubblewrap."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from patchwright.core.errors import SandboxError
from patchwright.core.runtime import SandboxSpec
from patchwright.sandbox import launch
from patchwright.sandbox.archive import pack_action_server
from patchwright.sandbox.egress.launch import with_proxy
from patchwright.sandbox.local import arguments
from patchwright.sandbox.local.arguments import Binding, DataFile
from patchwright.sandbox.local.folders import SandboxFolder, create_folder
from patchwright.sandbox.local.process import ProcessStream, start_process
from patchwright.sandbox.local.proxy import MEETING_FOLDER, start_proxy
from patchwright.sandbox.local.runtime import LocalRuntimes, serve_runtime
from patchwright.sandbox.local.seccomp import filter_program
from patchwright.sandbox.served import ServedRuntime

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
        config = launch.confined_by_limits(with_proxy(spec), arguments.WORKSPACE)
        server = launch.command_line(python, arguments.ARCHIVE, config)
        folder = create_folder(spec.run_id, _user())
        with ExitStack() as undo:
            undo.callback(folder.remove)
            proxy = (
                start_proxy(spec, folder, python, _user()) if spec.has_network_access else None
            )
            if proxy:
                undo.callback(proxy.stop)
            stream = _start(spec, folder, server)
            undo.pop_all()
        return serve_runtime(self.kind, spec, folder, stream, proxy)


def why_unavailable() -> str:
    """Return why bubblewrap does not work on this machine, or an empty text."""
    try:
        command = [
            _find("bwrap"),
            *arguments.isolate(),
            *arguments.show_system(ROOT),
            *("--", _find("python3"), "-I", "-S", "-c", ""),
        ]
        ran = subprocess.run(
            command,
            capture_output=True,
            env={},
            timeout=PROBE_S,
            check=False,
            user=_user(),
            group=_user(),
            extra_groups=[] if _user() else None,
        )
    except (SandboxError, OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return ran.stderr.decode(errors="replace").strip() if ran.returncode else ""


def _start(
    spec: SandboxSpec, folder: SandboxFolder, server: Sequence[str]
) -> ProcessStream:
    files = [
        DataFile("/etc/passwd", arguments.PASSWD),
        DataFile("/etc/group", arguments.GROUP),
        DataFile(arguments.ARCHIVE, pack_action_server()),
    ]
    folders = [
        Binding(folder.workspace, arguments.WORKSPACE),
        Binding(folder.tmp, "/tmp"),  # noqa: S108 - this is the sandbox's own /tmp
    ]
    with ExitStack() as open_files:
        shown = [Binding(folder.egress, MEETING_FOLDER)] if spec.has_network_access else []
        data = [(_open(open_files, file.content), file) for file in files]
        refused = [_open(open_files, one) for one in (filter_program(),) if one]
        command = [
            _find("bwrap"),
            *arguments.isolate(),
            *(word for fd in refused for word in ("--seccomp", str(fd))),
            *arguments.show_system(ROOT),
            *arguments.bound_memory_files(launch.read_size(spec.memory)),
            *arguments.show_own(data, folders, shown),
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
