"""A set-up that is broken off: by a worker that must end, or by a person."""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from patchwright.core.events.actions import ChangeState, RunCommand
from patchwright.core.events.jsonl import JsonlEventLog
from patchwright.core.events.observations import CommandOutput
from patchwright.core.events.payload import AgentState, Source
from patchwright.core.events.types import Event
from patchwright.core.llm.model import Models
from patchwright.core.runtime import Runtime, RuntimeFactory, SandboxSpec
from patchwright.core.system.clock import SystemClock
from patchwright.core.types.errors import LeaseLostError
from patchwright.core.types.evidence import Proof
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.resolver.resolve import resolve
from patchwright.resolver.set_up.sandboxes import SETUP, was_set_up_interrupted
from patchwright.sandbox.factory import create_factory
from tests.adapters.resolve.workbench import (
    FIX,
    RUN_TEST,
    WRITE_TEST,
    bench,
    finish,
)
from tests.fakes.scripted_model import ScriptedModel

SLOW = "timeout 1 tail -f /dev/null; true"


@dataclass(frozen=True)
class Noted:
    """Sandboxes, and in which order they were asked for and removed."""

    sandboxes: RuntimeFactory
    asked: list[str]

    @property
    def kind(self) -> str:
        return self.sandboxes.kind

    def start(self, spec: SandboxSpec) -> Runtime:
        self.asked.append(f"start {spec.role}")
        return self.sandboxes.start(spec)

    def attach(self, spec: SandboxSpec) -> Runtime | None:
        self.asked.append("attach")
        return self.sandboxes.attach(spec)

    def remove(self, run_id: str) -> int:
        self.asked.append(f"remove {run_id}")
        return self.sandboxes.remove(run_id)

    def reap(self) -> int:
        return self.sandboxes.reap()


def on_set_up(act: Callable[[], object]) -> Callable[[Event], None]:
    """Act when a command of a set-up was sent off."""

    def read(event: Event) -> None:
        if isinstance(event.payload, RunCommand) and event.payload.agent == SETUP:
            act()

    return read


def test_a_set_up_that_its_worker_left_is_run_again_in_a_new_sandbox(
    tmp_path: Path,
) -> None:
    model = ScriptedModel([WRITE_TEST, FIX, finish(RUN_TEST)])
    noted = Noted(create_factory("bubblewrap", SystemClock()), [])
    release_signal: Future[None] = Future()
    with bench(tmp_path, Models.only(model), sandboxes=noted) as told:
        task = told.task.replace(setup=(SLOW,))
        leave = on_set_up(lambda: release_signal.set_result(None))
        with told.dependencies.log.subscribe(leave), pytest.raises(LeaseLostError):
            resolve(task, replace(told.dependencies, release_signal=release_signal))
        outcome = resolve(None, told.dependencies).outcome
    assert outcome.proof is Proof.PROVEN
    first = ["remove run-1", "start work"]
    assert noted.asked[:4] == [*first, *first]


def test_a_stop_ends_a_set_up_at_once(tmp_path: Path) -> None:
    with bench(tmp_path, Models.only(ScriptedModel([]))) as told:
        task = told.task.replace(setup=("tail -f /dev/null",))
        wish = ChangeState(state=AgentState.STOPPED, reason="@alice")
        stop = on_set_up(lambda: told.dependencies.log.append(Source.SYSTEM, wish))
        with told.dependencies.log.subscribe(stop):
            outcome = resolve(task, told.dependencies).outcome
    assert (outcome.kind, outcome.summary) == (
        OutcomeKind.STOPPED,
        "Stopped by @alice.",
    )


def test_only_a_set_up_whose_last_command_ended_is_whole(tmp_path: Path) -> None:
    commands = ("make deps", "make tools")
    with JsonlEventLog(tmp_path / "log", lambda tree: tree, SystemClock()) as log:
        seen = [was_set_up_interrupted(commands, log, 1)]
        for command in commands:
            action = RunCommand(command=command, agent=SETUP)
            asked = log.append(Source.SYSTEM, action)
            seen.append(was_set_up_interrupted(commands, log, 1))
            output = CommandOutput(exit_code=0, output="", agent=SETUP)
            log.append(Source.ENVIRONMENT, output, asked.id)
            seen.append(was_set_up_interrupted(commands, log, 1))
        assert seen == [False, True, True, True, False]
        assert not was_set_up_interrupted((), log, 1)
