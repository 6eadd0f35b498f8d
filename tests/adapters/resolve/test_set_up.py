"""A repository's set-up runs first, in every sandbox, and says how it went."""

from pathlib import Path

from patchwright.core.events.actions import RunCommand
from patchwright.core.events.observations import CommandOutput
from patchwright.core.types.evidence import Proof
from patchwright.core.types.outcome_kind import OutcomeKind
from tests.adapters.resolve.workbench import FIX, RUN_TEST, WRITE_TEST, finish, run

NEEDS_SET_UP = f"test -e ../prepared && {RUN_TEST}"


def test_the_agent_and_the_proof_find_what_it_made(tmp_path: Path) -> None:
    steps = [WRITE_TEST, FIX, finish(NEEDS_SET_UP)]
    done = run(tmp_path, steps, setup=("echo ready > ../prepared",))
    assert done.outcome.proof is Proof.PROVEN
    first = next(e for e in done.events if isinstance(e.payload, RunCommand))
    assert (first.payload.agent, first.source.value) == ("setup", "system")


def test_s52_a_silent_set_up_is_waited_for(tmp_path: Path) -> None:
    command = "timeout 2 tail -f /dev/null; echo done"
    done = run(tmp_path, [finish()], setup=(command,))
    outputs = [e.payload for e in done.events if isinstance(e.payload, CommandOutput)]
    assert [(one.exit_code, one.output) for one in outputs] == [(0, "done\n")]


def test_a_set_up_that_fails_ends_the_run_with_its_words(tmp_path: Path) -> None:
    done = run(tmp_path, [finish()], setup=("echo no such package; exit 4", "echo no"))
    outcome = done.outcome
    assert (outcome.kind, outcome.reason) == (OutcomeKind.FAILED, "setup-failed")
    assert "exit 4" in outcome.summary
    assert "no such package" in outcome.summary
    assert outcome.iterations == 0
