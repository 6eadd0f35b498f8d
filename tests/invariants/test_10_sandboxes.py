"""Invariant 10 in real sandboxes: a run can be run again on its commit."""

from pathlib import Path

import pytest

from patchwright.core.agent.agents import coder
from patchwright.core.events.jsonl import JsonlEventLog
from patchwright.core.events.observations import CommandOutput, OutcomeReached
from patchwright.core.events.types import Event
from patchwright.core.llm.model import Models
from patchwright.core.replay.comparison import Difference
from patchwright.core.runtime import RuntimeFactory, SandboxSpec
from patchwright.core.system.clock import SystemClock
from patchwright.core.types.errors import SettingsError
from patchwright.core.types.evidence import Proof
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Limits
from patchwright.resolver.replay import ReplayEnvironment, ReplayResult, replay_run
from patchwright.sandbox.factory import create_factory
from patchwright.workers.cli.replay_handler import COULD_NOT_RUN, rerun_exit_code
from tests.adapters.git.workshop import WorkTree
from tests.adapters.resolve.workbench import (
    FIX,
    RUN_TEST,
    WRITE_TEST,
    NoSandboxes,
    Run,
    bench,
    finish,
    run,
)
from tests.fakes.scripted_model import ScriptedModel, reply
from tests.unit.trajectory.normal import normalise

# Each of them says something else each time, but for what a replay looks at.
NOISY = reply(
    calls=[
        ("shell", {"command": "date; echo pid $$; mktemp; sleep 0.1; echo 0.1s"}),
        ("shell", {"command": f"{RUN_TEST} 2>&1"}),
        ("shell", {}),
        ("fly", {}),
    ]
)


def run_again(
    folder: Path,
    recorded: list[Event],
    repository: WorkTree,
    sandboxes: RuntimeFactory | None = None,
) -> ReplayResult:
    clock = SystemClock()
    with JsonlEventLog(folder / "rerun.jsonl", lambda tree: tree, clock) as log:
        stage = ReplayEnvironment(
            repository=repository.objects,
            sandboxes=sandboxes or create_factory("bubblewrap", clock),
            spec=SandboxSpec(run_id="run-2"),
            log=log,
            clock=clock,
            agent=coder(),
        )
        return replay_run(recorded, stage)


def fixing(folder: Path) -> Run:
    return run(folder, [reply("I look."), WRITE_TEST, NOISY, FIX, finish(RUN_TEST)])


def test_what_the_agent_was_told_when_it_finished_is_told_again(
    tmp_path: Path,
) -> None:
    steps = [FIX, finish(), WRITE_TEST, finish(RUN_TEST)]
    model = ScriptedModel(steps, takes_advice=True)
    with bench(tmp_path, Models.only(model)) as scene:
        outcome, recorded = scene.resolve(), scene.events()
    assert (outcome.proof, model.unplayed) == (Proof.PROVEN, 0)
    again = run_again(tmp_path, recorded, scene.repository)
    assert again.comparison.differences == ()
    assert (again.outcome.kind, again.outcome.proof) == (outcome.kind, outcome.proof)
    assert again.outcome.proof_report is not None
    assert again.outcome.proof_report.rounds == 1
    proofs = [event for event in again.events if event.payload.kind == "proof_started"]
    assert len(proofs) == 1


def test_a_run_that_ended_with_what_was_held_back_does_so_again(
    tmp_path: Path,
) -> None:
    spoil = reply(calls=[("write", {"path": "cart.py", "content": "half"})])
    model = ScriptedModel([FIX, finish(), spoil], takes_advice=True)
    limits = Limits(max_iterations=3)
    with bench(tmp_path, Models.only(model), limits=limits) as scene:
        outcome, recorded = scene.resolve(), scene.events()
    again = run_again(tmp_path, recorded, scene.repository)
    assert again.comparison.differences == ()
    assert again.outcome.kind is outcome.kind is OutcomeKind.RESOLVED


def test_a_fix_is_made_again_and_nothing_is_written(tmp_path: Path) -> None:
    first = fixing(tmp_path)
    refs = first.repository.git("for-each-ref")
    objects = first.repository.git("count-objects", "-v")
    again = run_again(tmp_path, first.events, first.repository)
    assert again.comparison.differences == ()
    assert again.comparison.notes == ()
    assert again.outcome.kind is OutcomeKind.RESOLVED
    assert again.outcome.proof == first.outcome.proof
    assert again.tree == first.repository.git(
        "rev-parse", f"{first.outcome.head_sha}^{{tree}}"
    )
    assert normalise(again.events) == normalise(first.events)
    assert first.repository.git("for-each-ref") == refs
    assert first.repository.git("count-objects", "-v") == objects


def test_another_result_is_found(tmp_path: Path) -> None:
    first = run(
        tmp_path, [reply(calls=[("shell", {"command": "cat cart.py"})]), FIX, finish()]
    )
    claimed = [_with_output(event, "something else") for event in first.events]
    again = run_again(tmp_path, claimed, first.repository)
    assert again.comparison.differences == (
        Difference(step=1, what="shell cat cart.py", recorded="exit 0", rerun="exit 0"),
    )
    assert (again.comparison.results_same, again.comparison.results_compared) == (3, 4)


def test_another_tree_is_found(tmp_path: Path) -> None:
    first = run(tmp_path, [FIX, finish()])
    claimed = [_with_tree(event, "f" * 40) for event in first.events]
    again = run_again(tmp_path, claimed, first.repository)
    [found] = again.comparison.differences
    assert (found.what, found.recorded, found.rerun) == ("tree", "f" * 40, again.tree)


def test_where_there_is_no_sandbox_it_could_not_be_run(tmp_path: Path) -> None:
    first = run(tmp_path, [finish()])
    again = run_again(tmp_path, first.events, first.repository, NoSandboxes())
    assert again.outcome.reason == "sandbox"
    assert rerun_exit_code(again) == COULD_NOT_RUN


def test_a_repository_without_the_commit_is_refused(tmp_path: Path) -> None:
    first = run(tmp_path, [finish()])
    other = WorkTree.start(tmp_path / "other")
    with pytest.raises(SettingsError, match=first.outcome.base_sha):
        run_again(tmp_path, first.events, other)


def _with_output(event: Event, text: str) -> Event:
    if not isinstance(event.payload, CommandOutput):
        return event
    payload = event.payload.replace(output=text)
    return event.replace(payload=payload)


def _with_tree(event: Event, tree: str) -> Event:
    if not isinstance(event.payload, OutcomeReached):
        return event
    outcome = event.payload.outcome.replace(tree=tree)
    payload = event.payload.replace(outcome=outcome)
    return event.replace(payload=payload)
