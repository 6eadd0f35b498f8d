"""Turn a started action server and its folder into a runtime."""

from contextlib import ExitStack

from patchwright.core.runtime import SandboxSpec
from patchwright.sandbox.connection import ServerConnection
from patchwright.sandbox.local.folders import SandboxFolder, find_abandoned
from patchwright.sandbox.local.process import ProcessStream
from patchwright.sandbox.local.proxy import ProxyProcess
from patchwright.sandbox.served import ServedRuntime


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
