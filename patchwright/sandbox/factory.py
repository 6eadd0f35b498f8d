"""Choose where sandboxes run."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from patchwright.core.runtime import Runtime, RuntimeFactory, SandboxSpec
from patchwright.core.system.clock import Clock
from patchwright.core.system.entry_points import RUNTIMES, find_maker
from patchwright.core.types.errors import SandboxError
from patchwright.sandbox.docker import engine
from patchwright.sandbox.docker.runtimes import DockerRuntimes
from patchwright.sandbox.host.bootstrap import DEFAULT_IMAGE
from patchwright.sandbox.local import runtimes
from patchwright.sandbox.local.runtimes import BubblewrapRuntimes, UnconfinedRuntimes

# What such a factory has, and sets to true.
KEEPS_TO_DOMAINS = "keeps_to_domains"


def refuse_domains_unless_able(factory: RuntimeFactory) -> RuntimeFactory:
    return (
        factory
        if getattr(factory, KEEPS_TO_DOMAINS, False)
        else _WithoutDomains(factory)
    )


class _WithoutDomains:
    """Starts what the factory starts, except sandboxes with a list of hosts."""

    def __init__(self, factory: RuntimeFactory) -> None:
        self.kind = factory.kind
        self.attach, self.remove = factory.attach, factory.remove
        self.reap = factory.reap
        self._factory = factory

    def start(self, spec: SandboxSpec) -> Runtime:
        if spec.domains:
            raise SandboxError(
                f"sandbox.network: sandboxes of the kind {self.kind!r} cannot limit "
                "the network to a list of hosts; use docker or local"
            )
        return self._factory.start(spec)


# A healthy engine answers within milliseconds.
PROBE_S = 2


def create_factory(
    kind: str, clock: Clock, image: str = DEFAULT_IMAGE
) -> RuntimeFactory:
    """Return the factory of that kind; raise `SandboxError` when it cannot work here.

    `auto` is Docker where an engine answers that has or can pull the image, else
    bubblewrap where it works; `find_fallback` says if that is for want of the image.
    `unconfined` is used only if it is named. Any other name is a plug-in's, which is
    called with clock and image, or a `SettingsError`.
    """
    made = find_maker(RUNTIMES, kind, BUILT_IN, setting="sandbox.kind")(clock, image)
    return made if kind in BUILT_IN else refuse_domains_unless_able(made)


def _first_that_works(clock: Clock, image: str) -> RuntimeFactory:
    try:
        return _docker_or_fallback(clock, image)
    except SandboxError as no_docker:
        try:
            return _bubblewrap(clock, image)
        except SandboxError as no_bubblewrap:
            raise SandboxError(
                "no sandbox can be started: install Docker or bubblewrap. "
                f"{no_docker}. {no_bubblewrap}."
            ) from no_bubblewrap


class Fallback(NamedTuple):
    """Why bubblewrap is used where Docker comes first, and what changes that."""

    reason: str
    remedy: str

    def __str__(self) -> str:
        return f"Using bubblewrap: {self.reason}. To use Docker, {self.remedy}."


def find_fallback(factory: RuntimeFactory) -> Fallback | None:
    """Return what a person should know of the choice, if there is anything."""
    return factory.fallback if isinstance(factory, _BubblewrapForImage) else None


class _BubblewrapForImage(BubblewrapRuntimes):
    """Used because the engine cannot have the image."""

    def __init__(self, fallback: Fallback) -> None:
        super().__init__()
        self.fallback = fallback


def _docker_or_fallback(clock: Clock, image: str) -> RuntimeFactory:
    """Return Docker, which says itself at the first start what is wrong there."""
    found = _docker(clock, image)
    reason = found.why_not_available()
    if not reason or runtimes.why_unavailable():
        return found
    found.close()
    return _BubblewrapForImage(
        Fallback(
            f"Docker cannot pull the image {image} ({reason})",
            f"run docker pull {image}, or set another image in sandbox.image",
        )
    )


def _docker(clock: Clock, image: str) -> DockerRuntimes:
    return DockerRuntimes(engine.connect(PROBE_S), clock, image)


def _bubblewrap(_clock: Clock, _image: str) -> BubblewrapRuntimes:
    reason = runtimes.why_unavailable()
    if reason:
        raise SandboxError(f"bubblewrap does not work here: {reason}")
    return BubblewrapRuntimes()


BUILT_IN: Final[Mapping[str, Callable[[Clock, str], RuntimeFactory]]] = {
    "auto": _first_that_works,
    "docker": _docker,
    "local": _bubblewrap,
    "bubblewrap": _bubblewrap,
    "unconfined": lambda _clock, _image: UnconfinedRuntimes(),
}
