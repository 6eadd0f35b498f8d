"""What the commands of a run could not reach is in its log and its outcome."""

from dataclasses import replace
from pathlib import Path

from patchwright.core.events.observations import RequestBlocked
from patchwright.core.llm.model import Models
from patchwright.core.runtime import SandboxSpec
from patchwright.core.security.hosts import read_domain
from patchwright.core.types.evidence import Proof
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import BlockedRequest
from tests.adapters.resolve.workbench import (
    FIX,
    RUN_TEST,
    WRITE_TEST,
    Bench,
    bench,
    finish,
)
from tests.fakes.scripted_model import ScriptedModel, reply

LISTING = SandboxSpec(run_id="run-1", domains=(read_domain("listed.example"),))


def ask_for(host: str) -> str:
    return (
        f"python3 -c 'import urllib.request as u; u.urlopen(\"http://{host}/\")' "
        "2>/dev/null || true"
    )


def records(scene: Bench) -> list[RequestBlocked]:
    payloads = [event.payload for event in scene.events("request_blocked")]
    return [one for one in payloads if isinstance(one, RequestBlocked)]


def test_set_up_agent_and_proof_are_held_to_the_list_and_reported(
    tmp_path: Path,
) -> None:
    ask = reply(calls=[("shell", {"command": ask_for("agent.example")})])
    proof = f"{ask_for('proof.example')}; {RUN_TEST}"
    model = ScriptedModel([ask, WRITE_TEST, FIX, finish(proof)])
    with bench(tmp_path, Models.only(model), spec=LISTING) as scene:
        task = scene.task.replace(setup=(ask_for("setup.example"),))
        outcome = replace(scene, task=task).resolve()
        found = records(scene)
    # A chain with `||` is the agent's own check, which is run all the same. What proves
    # the change is the delivered test, which is run beside it.
    assert outcome.proof is Proof.PROVEN
    assert [one.exit_code for one in outcome.evidence] == [1, 1, 0, 0]
    total = {(one.host, one.port, one.count) for one in outcome.blocked}
    # The proof runs it twice, and each of its sandboxes is set up.
    assert total == {
        ("agent.example", 80, 1),
        ("proof.example", 80, 2),
        ("setup.example", 80, 3),
    }
    assert {(one.host, one.role) for one in found} == {
        ("agent.example", "work"),
        ("proof.example", "evidence"),
        ("setup.example", "work"),
        ("setup.example", "evidence"),
    }


def test_a_run_that_fails_tells_it_too(tmp_path: Path) -> None:
    fails = f"{ask_for('index.example')}; exit 3"
    with bench(tmp_path, Models.only(ScriptedModel([])), spec=LISTING) as scene:
        task = scene.task.replace(setup=(fails,))
        outcome = replace(scene, task=task).resolve()
    assert (outcome.kind, outcome.reason) == (OutcomeKind.FAILED, "setup-failed")
    assert outcome.blocked == (BlockedRequest(host="index.example", port=80),)


def test_with_a_closed_network_nothing_is_counted(tmp_path: Path) -> None:
    ask = reply(calls=[("shell", {"command": ask_for("agent.example")})])
    with bench(tmp_path, Models.only(ScriptedModel([ask, finish()]))) as scene:
        outcome = scene.resolve()
        assert records(scene) == []
    assert outcome.blocked == ()
