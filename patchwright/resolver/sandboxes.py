"""A run's sandbox: its specification, the disk space check, and its release."""

import shutil
import threading
from collections.abc import Callable, Sequence
from typing import Final

import structlog

from patchwright.core.agent.run_log import ReleaseSignal
from patchwright.core.events.types import (
    RequestBlocked,
    SandboxAction,
    SandboxObservation,
)
from patchwright.core.runtime import Pipe, Runtime, RuntimeFactory, SandboxSpec
from patchwright.core.security.hosts import Domain, read_domain
from patchwright.core.settings.limits import SandboxSettings
from patchwright.core.settings.model import Settings
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Outcome, service_outcome

# A run's sandboxes may outlive its time limit by what proof and delivery take.
_GRACE_S = 3600.0


def sandbox_spec(settings: Settings, run_id: str) -> SandboxSpec:
    wanted = settings.sandbox
    return SandboxSpec(
        run_id=run_id,
        image=wanted.image,
        network=wanted.network == "allow",
        domains=_domains(wanted),
        memory=wanted.memory,
        disk=wanted.disk,
        cpus=wanted.cpus,
        command_timeout_s=wanted.command_timeout_s,
        lifetime_s=settings.limits.max_minutes * 60 + _GRACE_S,
        engine_runtime=wanted.runtime,
    )


def _domains(wanted: SandboxSettings) -> tuple[Domain, ...]:
    if wanted.network != "allowlist":
        return ()
    return tuple(map(read_domain, wanted.allow_domains))


_GIB = 1024**3

log = structlog.get_logger(__name__)


def check_disk_space(settings: Settings) -> Outcome | None:
    """Return how a run ends that must not begin, since the disk is nearly full."""
    floor = settings.limits.min_free_gib
    free = shutil.disk_usage(settings.state_dir).free / _GIB
    if free >= floor:
        return None
    log.error("disk_nearly_full", free_gib=round(free, 1), floor_gib=floor)
    text = (
        f"The disk of the machine that would work on this has {free:.1f} GiB free, and "
        f"{floor:g} GiB are to stay so (`limits.min_free_gib`). Nothing was started; "
        "`retry` when whoever runs this service has made room."
    )
    return service_outcome(OutcomeKind.FAILED, "disk-full", text)


_WORK: Final = "work"


class InterruptibleSandboxes:
    """Starts sandboxes that are let go of as soon as the job is given back.

    Whoever waits for one gets its `RuntimeLostError`. With `for_another` the one that
    the agent works in is left for the worker that takes the job up.
    """

    def __init__(
        self,
        sandboxes: RuntimeFactory,
        release_signal: ReleaseSignal,
        *,
        for_another: bool = False,
    ) -> None:
        self.kind = sandboxes.kind
        self._sandboxes, self._release_signal = sandboxes, release_signal
        self._for_another = for_another

    def start(self, spec: SandboxSpec) -> Runtime:
        return self._watched(self._sandboxes.start(spec), spec)

    def attach(self, spec: SandboxSpec) -> Runtime | None:
        found = self._sandboxes.attach(spec)
        return self._watched(found, spec) if found else None

    def remove(self, run_id: str) -> int:
        return self._sandboxes.remove(run_id)

    def reap(self) -> int:
        return self._sandboxes.reap()

    def _watched(self, runtime: Runtime, spec: SandboxSpec) -> Runtime:
        once = _EndedOnce(runtime)
        is_left = self._for_another and spec.role == _WORK
        end = once.detach if is_left else once.close
        # Called at once where it is given back already.
        self._release_signal.add_done_callback(lambda _: end())
        return once


class _EndedOnce:
    """A sandbox that two threads may end; the later one waits for the other."""

    def __init__(self, runtime: Runtime) -> None:
        self.kind = runtime.kind
        self._runtime = runtime
        self._lock = threading.Lock()
        self._is_open = True

    def run(self, action: SandboxAction, action_id: str) -> SandboxObservation:
        return self._runtime.run(action, action_id)

    def cancel(self, action_id: str) -> None:
        self._runtime.cancel(action_id)

    def open_pipe(self, command: Sequence[str]) -> Pipe:
        return self._runtime.open_pipe(command)

    def upload(self, path: str, data: bytes) -> None:
        self._runtime.upload(path, data)

    def download(self, path: str, max_bytes: int) -> bytes:
        return self._runtime.download(path, max_bytes)

    def blocked(self) -> tuple[RequestBlocked, ...]:
        return self._runtime.blocked()

    def detach(self) -> None:
        self._end(self._runtime.detach)

    def close(self) -> None:
        self._end(self._runtime.close)

    def _end(self, end: Callable[[], None]) -> None:
        with self._lock:
            if self._is_open:
                self._is_open = False
                end()
