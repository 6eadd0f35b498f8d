"""Choose where sandboxes run."""

from typing import Protocol, cast

from patchwright.core.clock import Clock
from patchwright.core.errors import SandboxError, SettingsError
from patchwright.core.plugins import RUNTIMES, load_plugin
from patchwright.core.runtime import RuntimeFactory
from patchwright.sandbox.docker import engine
from patchwright.sandbox.docker.runtimes import DockerRuntimes
from patchwright.sandbox.images import DEFAULT_IMAGE
from patchwright.sandbox.local import bubblewrap
from patchwright.sandbox.local.bubblewrap import BubblewrapRuntimes
from patchwright.sandbox.local.unconfined import UnconfinedRuntimes

BUILT_IN = ("auto", "docker", "local", "bubblewrap", "unconfined")

# A healthy engine answers within milliseconds.
PROBE_S = 2


class Plugin(Protocol):
    """What the entry point of a plug-in for sandboxes is called as."""

    def __call__(self, clock: Clock, image: str) -> RuntimeFactory: ...


def choose(kind: str, clock: Clock, image: str = DEFAULT_IMAGE) -> RuntimeFactory:
    """Return the factory of that kind; raise `SandboxError` when it cannot work here.

    `auto` is Docker where an engine answers, else bubblewrap where it works. Nothing
    but its own name chooses `unconfined`. Any other name is a plug-in's, or a
    `SettingsError`.
    """
    match kind:
        case "auto":
            return _whichever_works(clock, image)
        case "docker":
            return _docker(clock, image)
        case "bubblewrap" | "local":
            return _bubblewrap()
        case "unconfined":
            return UnconfinedRuntimes()
        case _:
            return _find_plugin(kind)(clock, image)


def _find_plugin(kind: str) -> Plugin:
    found = load_plugin(RUNTIMES, kind, setting="sandbox.kind", built_in=list(BUILT_IN))
    if not callable(found):
        raise SettingsError(f"sandbox.kind: what {kind!r} offers cannot be called")
    return cast(Plugin, found)


def _whichever_works(clock: Clock, image: str) -> RuntimeFactory:
    try:
        return _docker(clock, image)
    except SandboxError as no_docker:
        try:
            return _bubblewrap()
        except SandboxError as no_bubblewrap:
            raise SandboxError(
                "there is no place for a sandbox: install Docker or bubblewrap."
                f" {no_docker}. {no_bubblewrap}."
            ) from no_bubblewrap


def _docker(clock: Clock, image: str) -> DockerRuntimes:
    return DockerRuntimes(engine.connect(PROBE_S), clock, image)


def _bubblewrap() -> BubblewrapRuntimes:
    reason = bubblewrap.why_not()
    if reason:
        raise SandboxError(f"bubblewrap does not work here: {reason}")
    return BubblewrapRuntimes()
