"""A run whose worker is lost when the agent's work is done already."""

from pathlib import Path
from typing import Any, cast

import pytest

from patchwright.core.events.actions import ChangeState
from patchwright.core.events.observations import ModelReply, StateChanged
from patchwright.core.events.payload import AgentState, Source
from patchwright.core.llm.model import ModelRequest, Models
from patchwright.core.runtime import Runtime, SandboxSpec
from patchwright.core.system.clock import SystemClock
from patchwright.core.types.evidence import Proof
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import LeftOut, LeftOutReason, Outcome
from patchwright.resolver.resolve import resolve
from patchwright.sandbox.factory import create_factory
from tests.adapters.resolve.workbench import (
    FIX,
    RUN_TEST,
    WRITE_TEST,
    Bench,
    bench,
    finish,
)
from tests.fakes.scripted_model import ScriptedModel, reply


class Killed(BaseException):
    """The worker is gone."""


class Remembered:
    """Checkpoints that outlive a worker."""

    def __init__(self) -> None:
        self.bundle: bytes | None = None

    def save(self, bundle: bytes) -> None:
        self.bundle = bundle

    def load(self) -> bytes | None:
        return self.bundle


class FatalOnce:
    """Starts sandboxes; with the end of the first one the worker ends too."""

    def __init__(self) -> None:
        self._sandboxes = create_factory("bubblewrap", SystemClock())
        self.kind = self._sandboxes.kind
        self._was_fatal = False

    def start(self, spec: SandboxSpec) -> Runtime:
        runtime = self._sandboxes.start(spec)
        if self._was_fatal or spec.role != "work":
            return runtime
        self._was_fatal = True
        return cast("Runtime", _Fatal(runtime))

    def attach(self, spec: SandboxSpec) -> Runtime | None:
        return self._sandboxes.attach(spec)

    def remove(self, run_id: str) -> int:
        return self._sandboxes.remove(run_id)

    def reap(self) -> int:
        return self._sandboxes.reap()


class _Fatal:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def __getattr__(self, name: str) -> Any:
        return getattr(self._runtime, name)

    def close(self) -> None:
        self._runtime.close()
        raise Killed


def resume(told: Bench) -> Outcome:
    """Lose the first worker when its sandbox is gone; return what the next makes."""
    with pytest.raises(Killed):
        told.resolve()
    loading = StateChanged(state=AgentState.LOADING)
    told.dependencies.log.append(Source.SYSTEM, loading)
    return resolve(None, told.dependencies).outcome


def test_finished_work_is_delivered_by_the_next_worker_without_a_model_call(
    tmp_path: Path,
) -> None:
    model = ScriptedModel([WRITE_TEST, FIX, finish(RUN_TEST)])
    dependencies: dict[str, Any] = {
        "sandboxes": FatalOnce(),
        "checkpoints": Remembered(),
    }
    with bench(tmp_path, Models.only(model), **dependencies) as told:
        outcome = resume(told)
        assert (outcome.kind, outcome.proof) == (OutcomeKind.RESOLVED, Proof.PROVEN)
        assert "zip(prices, pieces)" in told.show(outcome, "cart.py")
        # The task, and what is in the sandbox.
        assert len(told.events("message")) == 2
    assert model.unplayed == 0


def test_what_finished_work_has_left_out_is_named_by_the_next_worker(
    tmp_path: Path,
) -> None:
    make = reply(calls=[("shell", {"command": "git init -q lib; echo x > lib/x"})])
    model = ScriptedModel([make, FIX, finish(), finish()])
    dependencies: dict[str, Any] = {
        "sandboxes": FatalOnce(),
        "checkpoints": Remembered(),
    }
    with bench(tmp_path, Models.only(model), **dependencies) as told:
        outcome = resume(told)
        assert (outcome.kind, model.unplayed) == (OutcomeKind.RESOLVED, 0)
        lib = LeftOut(path="lib", reason=LeftOutReason.NESTED_REPOSITORY)
        assert outcome.left_out == (lib,)
        named = "(a Git repository of its own): `lib`"
        assert any(named in one for one in outcome.notes)


def test_a_run_that_was_stopped_stays_stopped_and_keeps_its_work(
    tmp_path: Path,
) -> None:
    def stop(_request: ModelRequest) -> ModelReply:
        wish = ChangeState(state=AgentState.STOPPED, reason="@alice")
        told.dependencies.log.append(Source.SYSTEM, wish)
        return reply(calls=[("shell", {"command": "true"})])

    model = ScriptedModel([FIX, stop])
    dependencies: dict[str, Any] = {
        "sandboxes": FatalOnce(),
        "checkpoints": Remembered(),
    }
    with bench(tmp_path, Models.only(model), **dependencies) as told:
        outcome = resume(told)
        assert outcome.kind is OutcomeKind.STOPPED
        assert outcome.summary == "Stopped by @alice."
        assert "zip(prices, pieces)" in told.show(outcome, "cart.py")
