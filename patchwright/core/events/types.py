"""The event: one entry of a conversation's log, and every payload it may carry."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Discriminator, Field, JsonValue, Tag

from patchwright.core.types.base import Value
from patchwright.core.types.work import Evidence, Outcome, Usage


class Source(StrEnum):
    USER = "user"
    AGENT = "agent"
    ENVIRONMENT = "environment"
    SYSTEM = "system"


class AgentState(StrEnum):
    LOADING = "loading"
    RUNNING = "running"
    PAUSED = "paused"
    AWAITING_USER_INPUT = "awaiting-user-input"
    AWAITING_USER_CONFIRMATION = "awaiting-user-confirmation"
    USER_CONFIRMED = "user-confirmed"
    USER_REJECTED = "user-rejected"
    RATE_LIMITED = "rate-limited"
    FINISHED = "finished"
    REJECTED = "rejected"
    STOPPED = "stopped"
    ERROR = "error"


class Payload(Value):
    """What every payload has: the model's tool call it belongs to, if any."""

    call_id: str = ""


# What the model said


class ToolCall(Value):
    """One tool call of a reply; `arguments` is always a JSON object, as text."""

    id: str
    name: str
    arguments: str


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


# Actions


class RunCommand(Payload):
    """Run a script in the named shell session; after `timeout_s` the call returns.

    Standard input is `stdin` and then ends; with `interactive` it stays open, for
    `ControlAct.WRITE`.
    """

    kind: Literal["run_command"] = "run_command"
    command: str
    session: str = "main"
    timeout_s: float | None = None
    stdin: str = ""
    interactive: bool = False


class ControlAct(StrEnum):
    POLL = "poll"
    WRITE = "write"
    KILL = "kill"


class ControlCommand(Payload):
    """Wait for, write to, or kill the running command that `handle` names."""

    kind: Literal["control_command"] = "control_command"
    handle: str
    act: ControlAct
    text: str = ""
    timeout_s: float | None = None


class ReadFile(Payload):
    """Read lines `start_line` to `end_line` (from 1, inclusive), or list a folder."""

    kind: Literal["read_file"] = "read_file"
    path: str
    start_line: int = 1
    end_line: int | None = None


class WriteFile(Payload):
    kind: Literal["write_file"] = "write_file"
    path: str
    content: str


class Edit(Value):
    """Replace `old` by `new`: the only match, or the `occurrence`th one (from 1)."""

    old: str
    new: str
    occurrence: int | None = None


class EditFile(Payload):
    """Apply all the edits to one file, in order, or none of them."""

    kind: Literal["edit_file"] = "edit_file"
    path: str
    edits: tuple[Edit, ...]


class SearchFiles(Payload):
    """Find lines that match a regular expression, in files whose path fits `glob`."""

    kind: Literal["search_files"] = "search_files"
    pattern: str
    path: str = "."
    glob: str = ""


class Think(Payload):
    kind: Literal["think"] = "think"
    thought: str


class Message(Payload):
    """Words from a person, the system or the agent, in `Event.source`'s name."""

    kind: Literal["message"] = "message"
    text: str


class Finish(Payload):
    """The agent says that it is done.

    `test_commands` are those that fail before the change and pass after it; `answer`
    is what to tell the person when the request was a question.
    """

    kind: Literal["finish"] = "finish"
    summary: str
    title: str = ""
    answer: str = ""
    test_commands: tuple[str, ...] = ()


class Reject(Payload):
    """The agent says that it will not or cannot do this, and why."""

    kind: Literal["reject"] = "reject"
    reason: str


class ChangeState(Payload):
    kind: Literal["change_state"] = "change_state"
    state: AgentState
    reason: str = ""


# Observations


class CommandOutput(Payload):
    """What a command printed, and how it ended.

    `exit_code` is None while it runs (then `handle` names it) and when it was killed
    at its hard limit. `output` keeps head and tail; `dropped_bytes` were left out of
    the middle and `full_output_path`, in the sandbox, has all of it. `note` is a
    sentence for the model: a hint, or what happened to the shell.
    """

    kind: Literal["command_output"] = "command_output"
    exit_code: int | None
    output: str
    cwd: str = ""
    duration_ms: int = 0
    dropped_bytes: int = 0
    full_output_path: str = ""
    still_running: bool = False
    handle: str = ""
    note: str = ""


class FileContent(Payload):
    """Lines of a text file with their numbers, or the entries of a folder."""

    kind: Literal["file_content"] = "file_content"
    path: str
    text: str
    first_line: int = 1
    total_lines: int = 0


class FileEdited(Payload):
    """A file was written; `diff` is unified, the hashes are SHA-256 or empty."""

    kind: Literal["file_edited"] = "file_edited"
    path: str
    diff: str
    sha256_before: str = ""
    sha256_after: str = ""


class SearchResult(Payload):
    kind: Literal["search_result"] = "search_result"
    text: str
    matches: int
    truncated: bool = False


class ErrorObservation(Payload):
    """An action could not be carried out; `text` tells the model what to do instead."""

    kind: Literal["error"] = "error"
    reason: str
    text: str


class StateChanged(Payload):
    kind: Literal["state_changed"] = "state_changed"
    state: AgentState
    reason: str = ""


class LoopDetected(Payload):
    """The run goes in circles; `pattern` describes the loop that was found."""

    kind: Literal["loop_detected"] = "loop_detected"
    pattern: str
    text: str


class Null(Payload):
    """Nothing came of an action, and nothing had to."""

    kind: Literal["null"] = "null"


class EvidenceRecorded(Payload):
    kind: Literal["evidence_recorded"] = "evidence_recorded"
    evidence: Evidence


class OutcomeReached(Payload):
    kind: Literal["outcome_reached"] = "outcome_reached"
    outcome: Outcome


class Unknown(BaseModel):
    """A payload of a kind this version does not know; its fields stay as they came."""

    model_config = ConfigDict(frozen=True, extra="allow")

    kind: str
    call_id: str = ""


SandboxAction = (
    RunCommand | ControlCommand | ReadFile | WriteFile | EditFile | SearchFiles
)
Action = SandboxAction | Think | Message | Finish | Reject | ChangeState
SandboxObservation = (
    CommandOutput | FileContent | FileEdited | SearchResult | ErrorObservation
)
Observation = SandboxObservation | StateChanged | LoopDetected | Null
Record = ModelReply | EvidenceRecorded | OutcomeReached
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
