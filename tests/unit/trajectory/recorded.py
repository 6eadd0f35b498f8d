"""Recorded runs, written out event by event."""

from datetime import UTC, datetime, timedelta
from typing import Any

from patchwright.core.events.actions import (
    Delegate,
    Finish,
    Message,
    RunCommand,
    WriteFile,
)
from patchwright.core.events.observations import (
    CommandOutput,
    Condensed,
    DelegateResult,
    EvidenceRecorded,
    FileEdited,
    LoopDetected,
    ModelCalled,
    ModelReply,
    Null,
    OutcomeReached,
    RunStarted,
    StateChanged,
)
from patchwright.core.events.payload import AgentState, Source, ToolCall
from patchwright.core.events.types import Event, Known
from patchwright.core.types.evidence import Evidence, EvidenceRole, Proof
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Limits, Outcome, Task, Usage

START = datetime(2030, 1, 1, 12, 0, tzinfo=UTC)
TASK = Task(
    text="Fix the sum.",
    base_sha="1a2b3c4d5e" * 4,
    base_branch="trunk",
    title="Wrong sum",
)
Entry = tuple[Source, Known, int | None]


def numbered(entries: list[Entry], first_id: int = 1) -> list[Event]:
    """Return the entries as events, a second apart."""
    return [
        Event(
            id=number,
            at=START + timedelta(seconds=number - first_id),
            source=source,
            cause=cause,
            payload=payload,
        )
        for number, (source, payload, cause) in enumerate(entries, start=first_id)
    ]


def started(run_id: str = "7f3a12bc0d9e", task: Task = TASK) -> Entry:
    payload = RunStarted(
        run_id=run_id, task=task, limits=Limits(), model="openai/gpt-x", version="0.1.0"
    )
    return Source.SYSTEM, payload, None


def asked(text: str = "Fix the sum.", agent: str = "") -> Entry:
    return Source.SYSTEM, Message(text=text, agent=agent), None


def replied(
    *names: str,
    cause: int,
    text: str = "",
    agent: str = "",
    usage: Usage | None = None,
    reason: str = "",
) -> Entry:
    """Return a reply that calls tools, under the ids `NAME-CAUSE`."""
    payload = ModelReply(
        model="openai/gpt-x",
        text=text,
        tool_calls=tuple(
            ToolCall(id=f"{name}-{cause}", name=name, arguments="{}") for name in names
        ),
        usage=usage or Usage(cost_usd=0.01, tokens_in=1000, tokens_out=50),
        latency_ms=1500,
        agent=agent,
        stop_reason=reason,
    )
    return Source.AGENT, payload, cause


def did(payload: Known, cause: int) -> Entry:
    return Source.AGENT, payload, cause


def came(payload: Known, cause: int) -> Entry:
    return Source.ENVIRONMENT, payload, cause


def noted(payload: Known) -> Entry:
    return Source.SYSTEM, payload, None


def evidence(role: EvidenceRole, exit_code: int) -> Entry:
    one = Evidence(
        role=role,
        command="python3 -m unittest test_pieces",
        commit="c" * 40,
        exit_code=exit_code,
        seconds=0.2,
        digest="d" * 64,
    )
    return noted(EvidenceRecorded(evidence=one))


def outcome(kind: OutcomeKind = OutcomeKind.RESOLVED, **fields: Any) -> Entry:
    reached = Outcome(
        kind=kind,
        proof=Proof.PROVEN,
        summary="The pieces were ignored.",
        base_sha=TASK.base_sha,
        base_branch="trunk",
        head_sha="e" * 40,
        usage=Usage(cost_usd=0.0512, tokens_in=5000, tokens_out=250),
        iterations=4,
        seconds=21,
    )
    return noted(OutcomeReached(outcome=reached.replace(**fields)))


def whole_run() -> list[Event]:
    """Return a run with a bit of everything: failures, a delegate, a condensation."""
    return numbered([*_begins(), *_delegates(), *_ends()])


def _begins() -> list[Entry]:
    command = RunCommand(command="python3 -m unittest", call_id="shell-3")
    failed = CommandOutput(exit_code=1, output="FAILED\n", call_id="shell-3")
    return [
        started(),  # 1
        asked(),
        noted(StateChanged(state=AgentState.RUNNING)),  # 3
        replied("shell", cause=3, text="I look."),
        did(command, 4),  # 5
        came(failed, 5),
    ]


def _delegates() -> list[Entry]:
    looks = RunCommand(command="grep -r total", call_id="shell-9", agent="8")
    found = CommandOutput(exit_code=0, output="a.py\n", call_id="shell-9", agent="8")
    report = DelegateResult(
        outcome=OutcomeKind.RESOLVED, summary="Only a.py.", iterations=1
    )
    return [
        replied("delegate", cause=6),  # 7
        did(Delegate(task="Find the callers.", call_id="delegate-6"), 7),
        asked("Find the callers.", agent="8"),  # 9
        replied("shell", cause=9, agent="8"),
        did(looks, 10),  # 11
        came(found, 11),
        came(report.replace(call_id="delegate-6"), 8),  # 13
    ]


def _ends() -> list[Entry]:
    shorter = Condensed(
        first_id=4, last_id=6, summary="Looked.", bytes_before=9000, bytes_after=2000
    )
    diff = "--- a/cart.py\n+++ b/cart.py\n@@ -1 +1,2 @@\n-y\n+x = 1\n+z\n"
    return [
        noted(ModelCalled(role="condense", text="Looked.", model="openai/mini")),
        noted(shorter),  # 15
        noted(LoopDetected(pattern="shell ls", text="You repeat yourself.")),
        replied("write", "finish", cause=16),  # 17
        did(WriteFile(path="cart.py", content="x = 1\n", call_id="write-16"), 17),
        came(FileEdited(path="cart.py", diff=diff, call_id="write-16"), 18),  # 19
        did(Finish(summary="The pieces were ignored.", call_id="finish-16"), 17),
        came(Null(call_id="finish-16"), 20),  # 21
        noted(StateChanged(state=AgentState.FINISHED)),
        evidence(EvidenceRole.BEFORE, 1),  # 23
        evidence(EvidenceRole.AFTER, 0),
        outcome(),  # 25
    ]
