"""The protocol of a place where the agent's actions run."""

from collections.abc import Mapping
from typing import Protocol

from patchwright.core.events.types import SandboxAction, SandboxObservation
from patchwright.core.types.base import Value


class SandboxSpec(Value):
    """What a sandbox must be like. `memory` is a size such as `2g`.

    `run_id` labels everything that belongs to the sandbox, so that it can be found and
    removed when its worker is gone. `lifetime_s` is the hard end of the sandbox.
    """

    run_id: str
    image: str = ""
    network: bool = False
    memory: str = "4g"
    cpus: float = 2.0
    max_processes: int = 512
    command_timeout_s: float = 120.0
    lifetime_s: float = 7200.0
    engine_runtime: str = ""
    environment: Mapping[str, str] = {}


class Runtime(Protocol):
    """One sandbox. Its repository lives in `/workspace/repo`, seen from inside.

    Any call raises `RuntimeLostError` when the sandbox is gone.
    """

    kind: str

    def run(self, action: SandboxAction, action_id: str) -> SandboxObservation:
        """Carry out an action; the same `action_id` again returns the same result."""
        ...

    def upload(self, path: str, data: bytes) -> None:
        """Write a file outside the repository, under `/workspace`."""
        ...

    def download(self, path: str, max_bytes: int) -> bytes:
        """Read a file under `/workspace`; a larger one raises `SandboxError`."""
        ...

    def close(self) -> None:
        """Remove the sandbox and everything in it; calling it twice is harmless."""
        ...


class RuntimeFactory(Protocol):
    """Starts sandboxes of one kind, and removes those whose worker is gone."""

    kind: str

    def start(self, spec: SandboxSpec) -> Runtime: ...

    def remove(self, run_id: str) -> int:
        """Remove what is left of a run; return how many sandboxes that were."""
        ...

    def reap(self) -> int:
        """Remove sandboxes that have outlived their end; return how many."""
        ...
