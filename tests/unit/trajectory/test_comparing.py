"""Two runs are compared by what matters."""

from typing import Any

import pytest

from patchwright.core.events.actions import CallMcpTool, Finish, Recall, RunCommand
from patchwright.core.events.observations import (
    CommandOutput,
    ConfirmationAsked,
    McpResult,
    ModelReply,
    ProofStarted,
    Recalled,
    StateChanged,
)
from patchwright.core.events.payload import AgentState, Risk, Source
from patchwright.core.events.types import Event
from patchwright.core.replay.comparison import Difference, compare
from patchwright.core.replay.models import ReplayEndedError
from patchwright.core.replay.recorded_inputs import (
    RecordedKnowledge,
    RecordedMcpServers,
    find_policy,
    find_recorded_inputs,
    find_task,
)
from patchwright.core.text.strings import normalise_text
from patchwright.core.types.errors import SettingsError
from patchwright.core.types.evidence import EvidenceRole, Proof
from patchwright.core.types.outcome_kind import OutcomeKind
from tests.unit.trajectory.normal import normalise
from tests.unit.trajectory.recorded import (
    TASK,
    Entry,
    asked,
    came,
    did,
    evidence,
    noted,
    numbered,
    outcome,
    replied,
    started,
)


def one_step(output: str, *ends: Entry, **fields: Any) -> list[Event]:
    """Return a run of one command that printed this."""
    result = CommandOutput(exit_code=0, output=output, call_id="shell-2")
    command = RunCommand(command="ls", call_id="shell-2")
    entries = [started(), asked(), replied("shell", cause=2), did(command, 3)]
    return numbered([*entries, came(result.replace(**fields), 4), *ends])


STEADY = [
    ("took 0.12s", "took 3.4s"),
    ("Ran 1 test in 0.001 seconds", "Ran 1 test in 0.1 seconds"),
    ("12 ms", "7 ms"),
    ("at 12:01:02.345", "at 23:59:00"),
    ("2030-01-01T12:00:00Z x", "2031-02-03T01:02:03+00:00 x"),
    ("<A object at 0x7f00aa>", "<A object at 0x7fffbb>"),
    ("pid 12", "pid 99"),
    ("open /tmp/tmpab12/x.py: no", "open /tmp/tmpcd34/y.py: no"),
    ("[1] 1234", "[1] 99"),
    ("real 0m1.2s", "real 1m0.3s"),
    (
        "id 123e4567-e89b-12d3-a456-426614174000",
        "id 00000000-e89b-12d3-a456-426614174000",
    ),
]


@pytest.mark.parametrize(("then", "now"), STEADY)
def test_what_changes_each_time_is_no_difference(then: str, now: str) -> None:
    assert normalise_text(then) == normalise_text(now)
    assert compare(one_step(then), one_step(now)).is_same
    assert normalise(one_step(then)) == normalise(one_step(now))


MEANT = [("3 failed", "4 failed"), ("a.py:12", "a.py:13"), ("port 80", "port 81")]


@pytest.mark.parametrize(("then", "now"), MEANT)
def test_what_means_something_is_a_difference(then: str, now: str) -> None:
    [found] = compare(one_step(then), one_step(now)).differences
    assert (found.step, found.what) == (1, "shell ls")
    assert normalise(one_step(then)) != normalise(one_step(now))


def test_how_a_result_came_about_is_no_difference() -> None:
    slow = one_step("x", duration_ms=900, full_output_path="/workspace/out/1")
    assert compare(slow, one_step("x")).is_same


def test_another_exit_code_is_told_in_words() -> None:
    found = compare(one_step("x"), one_step("x", exit_code=2))
    assert found.differences == (
        Difference(step=1, what="shell ls", recorded="exit 0", rerun="exit 2"),
    )
    assert (found.results_compared, found.results_same) == (1, 0)


def test_steps_that_only_one_run_has_are_told() -> None:
    longer, shorter = one_step("x"), one_step("x")[:2]
    [gone] = compare(longer, shorter).differences
    [new] = compare(shorter, longer).differences
    assert (gone.recorded, gone.rerun) == ("exit 0", "")
    assert (new.recorded, new.rerun) == ("", "exit 0")


def test_the_proof_is_compared_by_its_exit_codes() -> None:
    then = one_step("x", evidence(EvidenceRole.AFTER, 0))
    now = one_step("x", evidence(EvidenceRole.AFTER, 1))
    [found] = compare(then, now).differences
    assert (found.recorded, found.rerun) == ("exit 0", "exit 1")
    [lost] = compare(then, one_step("x")).differences
    assert (lost.recorded, lost.rerun) == ("exit 0", "")


def test_only_the_last_proof_is_compared() -> None:
    begun = noted(ProofStarted(head_sha="a" * 40))
    short, whole = evidence(EvidenceRole.AFTER, 1), evidence(EvidenceRole.AFTER, 0)
    twice = one_step("x", begun, short, begun, whole)
    assert compare(twice, one_step("x", begun, whole)).is_same
    [found] = compare(twice, one_step("x", begun, short)).differences
    assert (found.recorded, found.rerun) == ("exit 0", "exit 1")


def test_outcomes_are_compared() -> None:
    then = one_step("x", outcome())
    now = one_step("x", outcome(kind=OutcomeKind.STUCK, reason="r", proof=Proof.NONE))
    [found] = compare(then, now).differences
    assert (found.what, found.recorded) == ("outcome", "resolved, proven")
    assert found.rerun == "stuck (r), none"


def test_an_end_from_outside_is_noted_and_no_difference() -> None:
    late = outcome(kind=OutcomeKind.TIMED_OUT, reason="time", proof=Proof.NONE)
    over = outcome(kind=OutcomeKind.FAILED, reason=ReplayEndedError.reason)
    found = compare(one_step("x", late), one_step("x", over))
    assert found.is_same
    assert found.notes == (
        "The end of the recorded run cannot be repeated: timed-out (time), none.",
    )
    stuck = outcome(kind=OutcomeKind.STUCK)
    assert not compare(one_step("x", stuck), one_step("x", over)).is_same


def test_waits_for_a_provider_are_no_part_of_a_run() -> None:
    waits = noted(StateChanged(state=AgentState.RATE_LIMITED))
    assert normalise(numbered([asked(), waits])) == normalise(numbered([asked()]))


def test_tools_and_texts_are_served_from_the_recording() -> None:
    call = CallMcpTool(server="time", tool="time__now", arguments={"zone": "UTC"})
    recall = Recall(query="tests")
    recorded = numbered(
        [
            asked(),
            did(call, 1),
            came(McpResult(text="noon"), 2),
            did(recall, 1),
            came(Recalled(text="Use make."), 4),
        ]
    )
    servers, library = RecordedMcpServers(recorded), RecordedKnowledge(recorded)
    assert [tool.name for tool in servers.tools()] == ["time__now"]
    assert servers.call(call) == McpResult(text="noon")
    assert servers.call(call).kind == "error"
    assert servers.faults() == ()
    assert library.recall("tests").text == "Use make."
    assert "did not recall" in library.recall("docs").text
    assert not RecordedKnowledge([])
    assert len(find_recorded_inputs(recorded)) == 2


def test_an_older_log_tells_its_task_by_its_outcome() -> None:
    task, _ = find_task(numbered([asked("Do it."), outcome()]))
    assert (task.text, task.base_sha) == ("Do it.", TASK.base_sha)
    with pytest.raises(SettingsError, match="neither the task nor its commit"):
        find_task(numbered([asked("Do it.")]))


def test_a_model_that_judged_its_calls_is_read_so_again() -> None:
    assert find_policy(one_step("x")) == "never"
    [reply] = [e for e in one_step("x") if e.source is Source.AGENT and e.cause == 2]
    assert isinstance(reply.payload, ModelReply)
    calls = [
        call.replace(arguments='{"risk": "low"}') for call in reply.payload.tool_calls
    ]
    payload = reply.payload.replace(tool_calls=tuple(calls))
    assert find_policy([reply.replace(payload=payload)]) == "risky"


def test_a_plan_that_was_shown_does_not_make_the_policy_a_careful_one() -> None:
    plan = ConfirmationAsked(
        action=Finish(summary="x").model_dump(mode="json"), digest="d", risk=Risk.LOW
    )
    assert find_policy(one_step("x", noted(plan))) == "never"
