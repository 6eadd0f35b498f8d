"""A finish is answered by its proof: what falls short can be mended, twice at most."""

import os
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue

from patchwright.core.events.observations import (
    ErrorObservation,
    ModelReply,
    StateChanged,
)
from patchwright.core.events.payload import AgentState, Source
from patchwright.core.llm.model import ModelRequest, Models
from patchwright.core.runtime import Runtime, SandboxSpec
from patchwright.core.system.clock import SystemClock
from patchwright.core.types.errors import LeaseLostError, SandboxError
from patchwright.core.types.evidence import Proof, ProofReason
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import CONTRADICTED, Limits
from patchwright.resolver.resolve import resolve
from patchwright.resolver.set_up.sandboxes import InterruptibleSandboxes
from patchwright.sandbox.factory import create_factory
from patchwright.workers.runs.run_row import RunSummary, update_summary
from tests.adapters.resolve.test_resumed import Killed, Remembered
from tests.adapters.resolve.workbench import (
    FIX,
    RUN_TEST,
    TEST,
    WRITE_TEST,
    Bench,
    Run,
    bench,
    finish,
)
from tests.fakes.scripted_model import ScriptedModel, Step, reply
from tests.provision.waiting import wait_until
from tests.service.proc import descendants

GREEN = (
    "import unittest\n\n\nclass Sum(unittest.TestCase):\n    def test_it(self): pass\n"
)
WRITE_GREEN = reply(calls=[("write", {"path": "test_sum.py", "content": GREEN})])
TOO_BROAD: dict[str, JsonValue] = {"old": "sum(prices)", "new": "0"}
BREAK = reply(calls=[("edit", {"path": "cart.py", "edits": [TOO_BROAD]})])


def attempt(folder: Path, *steps: Step, **dependencies: Any) -> tuple[Run, Bench]:
    """Resolve the task by a model that takes advice."""
    model = ScriptedModel(steps, takes_advice=True)
    with bench(folder, Models.only(model), **dependencies) as scene:
        outcome = scene.resolve()
        return Run(outcome, scene.events(), scene.repository, model), scene


def told(done: Run) -> list[str]:
    payloads = (event.payload for event in done.events)
    return [
        one.text
        for one in payloads
        if isinstance(one, ErrorObservation) and one.reason == "proof-short"
    ]


def proofs(done: Run) -> int:
    return sum(event.payload.kind == "proof_started" for event in done.events)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ([FIX, finish()], "no test command was named"),
        ([FIX, finish(RUN_TEST)], RUN_TEST),
        (
            [WRITE_GREEN, FIX, finish("python3 -m unittest test_sum")],
            "`python3 -m unittest test_sum`: exit 0",
        ),
        ([WRITE_TEST, finish(RUN_TEST)], "fails after the change"),
    ],
    ids=["no command", "no such test", "green before", "red after"],
)
def test_p7_a_wrong_first_finish_loses_no_proof(
    wrong: list[Step], said: str, tmp_path: Path
) -> None:
    rest = [one for one in (WRITE_TEST, FIX) if one not in wrong]
    done, _ = attempt(tmp_path, *wrong, *rest, finish(RUN_TEST))
    [advice] = told(done)
    assert advice.startswith("finish was held back. ")
    assert said in advice
    outcome = done.outcome
    assert (outcome.kind, outcome.proof) == (OutcomeKind.RESOLVED, Proof.PROVEN)
    assert outcome.proof_report is not None
    assert (outcome.proof_report.rounds, proofs(done)) == (1, 2)
    assert done.model.unplayed == 0
    assert {one.command for one in outcome.evidence} >= {RUN_TEST}
    assert outcome.proof_report.head_sha == outcome.head_sha


def test_only_the_last_proof_is_shown(tmp_path: Path) -> None:
    nothing = "python3 -m unittest nothing"
    done, _ = attempt(tmp_path, FIX, finish(nothing), WRITE_TEST, finish(RUN_TEST))
    known = update_summary(RunSummary(), done.events)
    assert known.evidence == done.outcome.evidence
    assert nothing not in {one.command for one in known.evidence}


def test_a_finish_that_is_repeated_is_the_last_word_and_is_proven_once(
    tmp_path: Path,
) -> None:
    again = finish(summary="There is no more to say.")
    done, _ = attempt(tmp_path, FIX, finish(), again)
    assert (len(told(done)), proofs(done)) == (1, 1)
    outcome = done.outcome
    assert (outcome.kind, outcome.proof) == (OutcomeKind.RESOLVED, Proof.NOT_PROVEN)
    assert outcome.summary == "There is no more to say."
    assert outcome.proof_report is not None
    assert outcome.proof_report.head_sha == outcome.head_sha
    assert "There is no more to say." in done.repository.git(
        "show", "-s", "--format=%B", outcome.head_sha
    )


def test_after_two_rounds_the_run_ends_with_what_it_has(tmp_path: Path) -> None:
    wrong = [finish(f"python3 -m unittest nothing_{n}") for n in range(3)]
    done, _ = attempt(tmp_path, FIX, *wrong)
    assert (len(told(done)), proofs(done), done.model.unplayed) == (2, 3, 0)
    assert "for the last time" in told(done)[1]
    assert done.outcome.proof is not Proof.PROVEN
    assert done.outcome.proof_report is not None
    assert done.outcome.proof_report.rounds == 2
    commands = {one.command for one in done.outcome.evidence}
    assert commands == {"python3 -m unittest nothing_2"}


def test_a_run_that_ends_while_it_mends_has_what_it_had_finished(
    tmp_path: Path,
) -> None:
    spoil = reply(calls=[("write", {"path": "cart.py", "content": "half"})])
    limits = Limits(max_iterations=3)
    done, _ = attempt(tmp_path, FIX, finish(), spoil, limits=limits)
    outcome = done.outcome
    assert (outcome.kind, outcome.proof) == (OutcomeKind.RESOLVED, Proof.NOT_PROVEN)
    assert "zip(prices, pieces)" in done.show("cart.py")
    assert outcome.title == "Count every piece"
    assert "The pieces were ignored." in done.repository.git(
        "show", "-s", "--format=%B", outcome.head_sha
    )
    assert proofs(done) == 1


def test_at_a_limit_no_round_is_offered(tmp_path: Path) -> None:
    done, _ = attempt(tmp_path, FIX, finish(), limits=Limits(max_iterations=2))
    assert (told(done), done.outcome.kind) == ([], OutcomeKind.RESOLVED)


def test_a_change_that_its_test_contradicts_is_not_done(tmp_path: Path) -> None:
    done, _ = attempt(tmp_path, WRITE_TEST, BREAK, *[finish(RUN_TEST)] * 2)
    outcome = done.outcome
    assert (outcome.kind, outcome.reason) == (OutcomeKind.NEEDS_INPUT, CONTRADICTED)
    assert (outcome.proof, outcome.proposes_change) == (Proof.CONTRADICTED, True)
    assert "tests fail with it" in outcome.own_text
    assert outcome.summary.startswith(outcome.own_text)
    assert outcome.agent_text == "The pieces were ignored."
    assert "zip(prices, pieces)" not in done.show("cart.py")


def test_no_test_is_asked_for_where_only_documents_change(tmp_path: Path) -> None:
    write = reply(calls=[("write", {"path": "README.md", "content": "# Cart\n"})])
    done, _ = attempt(tmp_path, write, finish())
    assert told(done) == []
    assert done.outcome.kind is OutcomeKind.RESOLVED


def test_what_is_asked_about_is_not_proven_first(tmp_path: Path) -> None:
    make = reply(calls=[("write", {"path": ".github/workflows/x.yml", "content": "a"})])
    done, _ = attempt(tmp_path, make, finish())
    assert (done.outcome.kind, proofs(done)) == (OutcomeKind.NEEDS_INPUT, 0)


class OnlyWork:
    """Starts the agent's sandbox, and none for a proof."""

    def __init__(self) -> None:
        self._sandboxes = create_factory("bubblewrap", SystemClock())
        self.kind = self._sandboxes.kind
        self.attach, self.remove = self._sandboxes.attach, self._sandboxes.remove
        self.reap = self._sandboxes.reap

    def start(self, spec: SandboxSpec) -> Runtime:
        if spec.role != "work":
            raise SandboxError("there is no room")
        return self._sandboxes.start(spec)


def test_without_a_sandbox_for_the_proof_no_round_is_spent(tmp_path: Path) -> None:
    done, _ = attempt(tmp_path, WRITE_TEST, FIX, finish(RUN_TEST), sandboxes=OnlyWork())
    assert (told(done), proofs(done)) == ([], 1)
    assert done.outcome.kind is OutcomeKind.RESOLVED
    assert done.outcome.proof_report is not None
    assert done.outcome.proof_report.reason is ProofReason.NO_SANDBOX
    assert "No fresh sandbox could be used: there is no room" in done.outcome.notes


SLOW_TEST = TEST.replace(
    "        self", "        subprocess.run(['sleep', '2'])\n        self"
).replace("import unittest", "import subprocess\nimport unittest")


def is_slow() -> bool:
    return any(seen.command == "sleep 2" for seen in descendants(os.getpid()))


def test_a_worker_that_lets_go_during_the_proof_spends_no_round(
    tmp_path: Path,
) -> None:
    let_go: Future[None] = Future()
    sandboxes = create_factory("bubblewrap", SystemClock())
    write = reply(calls=[("write", {"path": "test_pieces.py", "content": SLOW_TEST})])
    model = ScriptedModel([write, FIX, finish(RUN_TEST)], takes_advice=True)
    with bench(
        tmp_path,
        Models.only(model),
        release_signal=let_go,
        sandboxes=InterruptibleSandboxes(sandboxes, let_go, for_another=True),
        checkpoints=Remembered(),
    ) as scene:
        with ThreadPoolExecutor(1) as pool:
            run = pool.submit(scene.resolve)
            wait_until(is_slow, "the test in the proof", 20)
            let_go.set_result(None)
            with pytest.raises(LeaseLostError):
                run.result(5)
        assert scene.events("evidence_recorded", "finish", "error") == []
        loading = StateChanged(state=AgentState.LOADING)
        scene.dependencies.log.append(Source.SYSTEM, loading)
        fresh = replace(
            scene.dependencies, release_signal=Future(), sandboxes=sandboxes
        )
        outcome = resolve(None, fresh).outcome
    assert (outcome.kind, outcome.proof) == (OutcomeKind.RESOLVED, Proof.PROVEN)
    assert outcome.proof_report is not None
    assert (outcome.proof_report.rounds, model.unplayed) == (0, 0)


def test_a_worker_that_is_lost_between_two_rounds_leaves_the_rest_of_them(
    tmp_path: Path,
) -> None:
    def lost(_request: ModelRequest) -> ModelReply:
        raise Killed

    wrong = [finish(f"python3 -m unittest nothing_{n}") for n in range(3)]
    steps: list[Step] = [FIX, wrong[0], lost, *wrong[1:]]
    model = ScriptedModel(steps, takes_advice=True)
    with bench(tmp_path, Models.only(model), checkpoints=Remembered()) as scene:
        with pytest.raises(Killed):
            scene.resolve()
        loading = StateChanged(state=AgentState.LOADING)
        scene.dependencies.log.append(Source.SYSTEM, loading)
        outcome = resolve(None, scene.dependencies).outcome
        assert len(scene.events("error")) == 2
    assert outcome.proof_report is not None
    assert (outcome.proof_report.rounds, model.unplayed) == (2, 0)
