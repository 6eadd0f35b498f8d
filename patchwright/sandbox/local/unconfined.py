"""No sandbox at all: actions run as the user who runs us, in a folder of their own."""

import sys
from contextlib import ExitStack

import structlog

from patchwright.core.errors import SandboxError
from patchwright.core.runtime import SandboxSpec
from patchwright.sandbox import launch
from patchwright.sandbox.archive import pack_action_server
from patchwright.sandbox.local.folders import create_folder
from patchwright.sandbox.local.process import start_process
from patchwright.sandbox.local.runtime import LocalRuntimes, serve_runtime
from patchwright.sandbox.served import ServedRuntime

log = structlog.get_logger()


class UnconfinedRuntimes(LocalRuntimes):
    """Only for those who ask for it by name; see `RuntimeFactory`.

    The environment is empty here too, but files and network of this machine are open.
    """

    kind = "unconfined"

    def start(self, spec: SandboxSpec) -> ServedRuntime:
        if spec.domains:
            raise SandboxError(
                "sandbox.network: nothing holds commands to a list of hosts with "
                'sandbox.kind "unconfined"; use Docker or bubblewrap'
            )
        log.warning("sandbox_is_unconfined", run_id=spec.run_id)
        folder = create_folder(spec.run_id, None)
        archive = folder.path / "server.pyz"
        archive.write_bytes(pack_action_server())
        config = launch.confined_by_limits(spec, str(folder.workspace))
        # The kernel counts all processes of the user, those outside too.
        config = config._replace(max_processes=0)
        command = launch.command_line(sys.executable, str(archive), config)
        with ExitStack() as undo:
            undo.callback(folder.remove)
            stream = start_process(command)
            undo.pop_all()
        return serve_runtime(self.kind, spec, folder, stream)
