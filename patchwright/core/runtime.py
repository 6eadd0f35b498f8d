"""The protocol of a place where the agent's actions run."""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from patchwright.core.events.observations import RequestBlocked
from patchwright.core.events.types import SandboxAction, SandboxObservation
from patchwright.core.security.hosts import Domain
from patchwright.core.types.base import Value


class ShownPlace(Value):
    """A file or folder of this machine, and where a sandbox shows it, read-only."""

    source: str
    place: str


class HostPlaces(Value):
    """What of this machine a sandbox on it shows besides the system, all read-only.

    `checkout` is the user's own folder of the repository: there the sandbox has its own
    clone, so that what is installed from that folder is the clone's code. `inside` are
    folders of the checkout, by their paths in it, that the clone shows too. `masked`
    are files below a shown place that are empty in the sandbox.
    """

    shown: tuple[ShownPlace, ...] = ()
    masked: tuple[str, ...] = ()
    checkout: str = ""
    inside: tuple[str, ...] = ()


class SandboxSpec(Value):
    """What a sandbox must be like. `memory` and `disk` are sizes such as `2g`.

    `run_id` labels everything that belongs to the sandbox, so that it can be found and
    removed when its worker is gone; `role` tells the sandboxes of one run apart.
    `lifetime_s` is the hard end of the sandbox. With `network` all public addresses can
    be reached, without it the `domains` and nothing else. Only bubblewrap's sandboxes
    show `places`.
    """

    run_id: str
    role: Literal["work", "evidence"] = "work"
    image: str = ""
    network: bool = False
    domains: tuple[Domain, ...] = ()
    memory: str = "4g"
    disk: str = "10g"
    cpus: float = 2.0
    max_processes: int = 512
    command_timeout_s: float = 120.0
    lifetime_s: float = 7200.0
    engine_runtime: str = ""
    environment: Mapping[str, str] = {}
    places: HostPlaces = HostPlaces()

    @property
    def has_network_access(self) -> bool:
        return self.network or bool(self.domains)


class Runtime(Protocol):
    """One sandbox. Its repository lives in `/workspace/repo`, seen from inside.

    Any call raises `RuntimeLostError` when the sandbox is gone.
    """

    kind: str

    def run(self, action: SandboxAction, action_id: str) -> SandboxObservation:
        """Carry out an action; the same `action_id` again returns the same result.

        This is true across workers too, as long as the sandbox lives: a running action
        is waited for, and an unknown action is run now, once.
        """
        ...

    def cancel(self, action_id: str) -> None:
        """Kill the running processes of the action, without waiting for them.

        A caller that waits in `run` gets the output so far, within half a second. A
        `ControlCommand` that waits for a command only stops waiting. An action that has
        ended or never began is left as it is.
        """
        ...

    def open_pipe(self, command: Sequence[str]) -> "Pipe":
        """Start a program in the repository that exchanges lines over its pipes."""
        ...

    def upload(self, path: str, data: bytes) -> None:
        """Write a file outside the repository, under `/workspace`."""
        ...

    def download(self, path: str, max_bytes: int) -> bytes:
        """Read a file under `/workspace`; a larger one raises `SandboxError`."""
        ...

    def blocked(self) -> tuple[RequestBlocked, ...]:
        """Return what commands wanted to reach and could not, by host and port.

        Nothing is known of a sandbox without `domains`, or of one that is closed.
        """
        ...

    def detach(self) -> None:
        """Release the sandbox, so that another worker can `attach` if possible.

        One that cannot live without this process is closed.
        """
        ...

    def close(self) -> None:
        """Remove the sandbox and everything in it; calling it twice is harmless."""
        ...


class Pipe(Protocol):
    """A program in the sandbox, its standard input and output. Not a shell session.

    Any call raises `RuntimeLostError` when the sandbox is gone.
    """

    def write(self, line: str) -> None:
        """Send a line; raise `SandboxError` when the program has ended."""
        ...

    def read(self, timeout_s: float) -> str | None:
        """Return the next line, or None if there is none in time.

        Raises `SandboxError` with its last words when the program has ended.
        """
        ...

    def close(self) -> None:
        """End the program; calling it twice is harmless."""
        ...


class RuntimeFactory(Protocol):
    """Starts sandboxes of one kind, and removes those whose worker is gone."""

    kind: str

    def start(self, spec: SandboxSpec) -> Runtime:
        """Start a sandbox; raise `SandboxError` if it cannot fulfil the spec."""
        ...

    def attach(self, spec: SandboxSpec) -> Runtime | None:
        """Return the sandbox of this run and role that an earlier worker has left.

        None when there is none that still answers. If the earlier worker was only slow,
        all its calls raise `RuntimeLostError` from now on.
        """
        ...

    def remove(self, run_id: str) -> int:
        """Remove what is left of a run; return how many sandboxes that were."""
        ...

    def reap(self) -> int:
        """Remove sandboxes that have outlived their end; return how many."""
        ...
