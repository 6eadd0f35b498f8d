"""The event: one entry of a conversation's log, and the closed union it carries."""

from datetime import datetime
from typing import Annotated, Any, get_args

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from patchwright.core.events.actions import (
    AgentAction,
    AskQuestion,
    Browse,
    CallMcpTool,
    ChangeState,
    Condense,
    ControlAct,
    ControlCommand,
    Delegate,
    Edit,
    EditFile,
    Finish,
    Message,
    RaiseLimits,
    ReadFile,
    Recall,
    Reject,
    RunCommand,
    RunIpython,
    SearchFiles,
    Think,
    WriteFile,
    WriteTodos,
)
from patchwright.core.events.observations import (
    AttemptStart,
    BrowserOutput,
    CheckpointTaken,
    CommandOutput,
    Condensed,
    ConfirmationAsked,
    DelegateResult,
    ErrorObservation,
    EvidenceRecorded,
    FileContent,
    FileEdited,
    IpythonOutput,
    LoopDetected,
    McpResult,
    ModelCalled,
    ModelReply,
    Null,
    OutcomeReached,
    PlanApproved,
    ProofStarted,
    ProviderWait,
    Recalled,
    RequestBlocked,
    ResultDelivered,
    RunStarted,
    SearchResult,
    SetUpRestored,
    StateChanged,
    UserRejected,
    WaitCause,
)
from patchwright.core.events.payload import (
    AgentState,
    Payload,
    Risk,
    Source,
    Todo,
    ToolCall,
)
from patchwright.core.types.base import Value


class Unknown(BaseModel):
    """A payload of a kind this version does not know; its fields stay as they came."""

    model_config = ConfigDict(frozen=True, extra="allow")

    kind: str
    call_id: str = ""
    agent: str = ""


SandboxAction = (
    RunCommand
    | ControlCommand
    | RunIpython
    | ReadFile
    | WriteFile
    | EditFile
    | SearchFiles
    | Browse
)
AgentStep = (
    SandboxAction
    | CallMcpTool
    | Delegate
    | Recall
    | Condense
    | Think
    | WriteTodos
    | Finish
    | Reject
    | AskQuestion
)
Steering = Message | ChangeState | RaiseLimits
Action = AgentStep | Steering
SandboxObservation = (
    CommandOutput
    | IpythonOutput
    | FileContent
    | FileEdited
    | SearchResult
    | BrowserOutput
    | ErrorObservation
)
Observation = (
    SandboxObservation
    | McpResult
    | DelegateResult
    | Recalled
    | UserRejected
    | PlanApproved
    | StateChanged
    | Condensed
    | LoopDetected
    | Null
)
Record = (
    RunStarted
    | ModelReply
    | ModelCalled
    | ConfirmationAsked
    | CheckpointTaken
    | RequestBlocked
    | SetUpRestored
    | ProofStarted
    | EvidenceRecorded
    | OutcomeReached
    | ResultDelivered
)
Known = Action | Observation | Record

_KINDS: frozenset[str] = frozenset(
    payload.model_fields["kind"].default for payload in get_args(Known)
)


def _tag(payload: Any) -> str:  # noqa: ANN401 - pydantic hands over what it was given
    kind = payload.get("kind") if isinstance(payload, dict) else payload.kind
    return "known" if kind in _KINDS else "unknown"


AnyPayload = Annotated[
    Annotated[Annotated[Known, Field(discriminator="kind")], Tag("known")]
    | Annotated[Unknown, Tag("unknown")],
    Discriminator(_tag),
]


class Event(Value):
    """One entry of the log.

    `id` counts from 1 without a gap within one conversation; `cause` is the id of the
    event this one answers: a reply for an action, an action for an observation.
    """

    id: int
    at: datetime
    source: Source
    cause: int | None = None
    payload: AnyPayload


# Everybody else imports events from here; the modules above are how it is laid out.
__all__ = [
    "Action",
    "AgentAction",
    "AgentState",
    "AgentStep",
    "AnyPayload",
    "AskQuestion",
    "AttemptStart",
    "Browse",
    "BrowserOutput",
    "CallMcpTool",
    "ChangeState",
    "CheckpointTaken",
    "CommandOutput",
    "Condense",
    "Condensed",
    "ConfirmationAsked",
    "ControlAct",
    "ControlCommand",
    "Delegate",
    "DelegateResult",
    "Edit",
    "EditFile",
    "ErrorObservation",
    "Event",
    "EvidenceRecorded",
    "FileContent",
    "FileEdited",
    "Finish",
    "IpythonOutput",
    "Known",
    "LoopDetected",
    "McpResult",
    "Message",
    "ModelCalled",
    "ModelReply",
    "Null",
    "Observation",
    "OutcomeReached",
    "Payload",
    "PlanApproved",
    "ProofStarted",
    "ProviderWait",
    "RaiseLimits",
    "ReadFile",
    "Recall",
    "Recalled",
    "Record",
    "Reject",
    "RequestBlocked",
    "ResultDelivered",
    "Risk",
    "RunCommand",
    "RunIpython",
    "RunStarted",
    "SandboxAction",
    "SandboxObservation",
    "SearchFiles",
    "SearchResult",
    "SetUpRestored",
    "Source",
    "StateChanged",
    "Steering",
    "Think",
    "Todo",
    "ToolCall",
    "Unknown",
    "UserRejected",
    "WaitCause",
    "WriteFile",
    "WriteTodos",
]
