"""The records: what is neither done by the agent nor comes of it, but must be known."""

from datetime import datetime
from typing import Literal

from pydantic import JsonValue

from patchwright.core.events.payload import Payload, Risk, ToolCall
from patchwright.core.types.work import (
    Evidence,
    LeftOut,
    Limits,
    Outcome,
    Task,
    Usage,
)


class RunStarted(Payload):
    """A run begins: with this task, whatever becomes of the thread it came from.

    Whoever takes the run up after a crash goes on with this and nothing newer.
    """

    kind: Literal["run_started"] = "run_started"
    run_id: str
    task: Task
    limits: Limits
    model: str = ""
    version: str = ""


class ModelReply(Payload):
    """One reply of the model, whole, so that the next request can repeat it verbatim.

    `malformed` maps the id of a call whose arguments could not be read to the reason;
    such a call is stored with `{}` as arguments and is never run.
    """

    kind: Literal["model_reply"] = "model_reply"
    model: str = ""
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    malformed: dict[str, str] = {}
    reasoning: tuple[dict[str, JsonValue], ...] = ()
    stop_reason: str = ""
    usage: Usage = Usage()
    latency_ms: int = 0


class ModelCalled(Payload):
    """A model was asked beside the agent's own steps: in the `role` of whom, and why.

    `text` is what it answered; `failure` is the reason when it did not.
    """

    kind: Literal["model_called"] = "model_called"
    role: str
    model: str = ""
    text: str = ""
    failure: str = ""
    usage: Usage = Usage()
    latency_ms: int = 0


class ConfirmationAsked(Payload):
    """An action waits for a person's word, and is run only with this `digest`.

    `action` is the JSON form of the action; `why` are the analyzers' reasons.
    """

    kind: Literal["confirmation_asked"] = "confirmation_asked"
    action: dict[str, JsonValue]
    digest: str
    risk: Risk
    why: tuple[str, ...] = ()


class CheckpointTaken(Payload):
    """The work tree as it was after the event `up_to` is kept outside the sandbox.

    `left_out` is what the kept tree lacks of it.
    """

    kind: Literal["checkpoint_taken"] = "checkpoint_taken"
    up_to: int
    left_out: tuple[LeftOut, ...] = ()


class RequestBlocked(Payload):
    """Commands in a sandbox wanted to reach a host, `count` times, and were not let.

    `role` is the sandbox's. A `port` of 0 is one that is not known. `why` was told to
    the program that asked.
    """

    kind: Literal["request_blocked"] = "request_blocked"
    host: str
    port: int
    count: int
    first_at: datetime
    role: str = "work"
    why: str = ""


class EvidenceRecorded(Payload):
    kind: Literal["evidence_recorded"] = "evidence_recorded"
    evidence: Evidence


class OutcomeReached(Payload):
    kind: Literal["outcome_reached"] = "outcome_reached"
    outcome: Outcome
