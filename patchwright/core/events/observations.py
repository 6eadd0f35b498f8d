"""The observations and records: results of actions and of the run."""

import re
from datetime import datetime
from enum import StrEnum
from typing import Final, Literal

from pydantic import JsonValue, model_validator

from patchwright.core.events.payload import AgentState, Payload, Risk, ToolCall
from patchwright.core.types.base import JobId, Value
from patchwright.core.types.evidence import Evidence
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import (
    NO_USAGE,
    FileStat,
    LeftOut,
    Limits,
    Outcome,
    Task,
    Usage,
)


class CommandOutput(Payload):
    """What a command printed, and how it ended.

    `exit_code` is None while it runs (then `handle` names it) and when it was killed
    at its hard limit. `output` keeps head and tail; `dropped_bytes` were left out of
    the middle and `full_output_path`, in the sandbox, has all of it. `digest` is the
    SHA-256 of every byte that a command printed which has ended, in hexadecimal. `note`
    is a sentence for the model: a hint, or what happened to the shell.
    """

    kind: Literal["command_output"] = "command_output"
    exit_code: int | None
    output: str
    cwd: str = ""
    duration_ms: int = 0
    dropped_bytes: int = 0
    full_output_path: str = ""
    digest: str = ""
    still_running: bool = False
    handle: str = ""
    note: str = ""


class IpythonOutput(Payload):
    """What a piece of Python printed, with the value of its last expression.

    `failed` means that it raised; the traceback is in `output`. `note` says whether the
    interpreter was restarted, and whether it is IPython or plain Python.
    """

    kind: Literal["ipython_output"] = "ipython_output"
    output: str
    failed: bool = False
    duration_ms: int = 0
    dropped_bytes: int = 0
    note: str = ""


class FileContent(Payload):
    """Lines of a text file with their numbers, or the entries of a folder."""

    kind: Literal["file_content"] = "file_content"
    path: str
    text: str
    first_line: int = 1
    total_lines: int = 0


class FileEdited(Payload):
    """A file was written; `diff` is unified, the hashes are SHA-256 or empty.

    `excerpt` is what the model reads: the lines around each change, with their numbers.
    """

    kind: Literal["file_edited"] = "file_edited"
    path: str
    diff: str
    excerpt: str = ""
    sha256_before: str = ""
    sha256_after: str = ""


class SearchResult(Payload):
    """Lines that match, `note` where the search ended and what it left out."""

    kind: Literal["search_result"] = "search_result"
    text: str
    matches: int
    truncated: bool = False
    note: str = ""


class BrowserOutput(Payload):
    """A page as text; `url` is where redirects have led to."""

    kind: Literal["browser_output"] = "browser_output"
    url: str
    status: int = 0
    title: str = ""
    text: str = ""
    truncated: bool = False


class McpResult(Payload):
    """What a tool of a Model Context Protocol server answered, as text."""

    kind: Literal["mcp_result"] = "mcp_result"
    text: str
    failed: bool = False


class DelegateResult(Payload):
    """How a delegate ended, what it says of its work, and what it cost."""

    kind: Literal["delegate_result"] = "delegate_result"
    outcome: OutcomeKind
    summary: str
    usage: Usage = NO_USAGE
    iterations: int = 0


class Recalled(Payload):
    """What the repository says about it; `sources` are paths."""

    kind: Literal["recalled"] = "recalled"
    text: str
    sources: tuple[str, ...] = ()


class ErrorObservation(Payload):
    """An action could not be carried out; `text` tells the model what to do instead."""

    kind: Literal["error"] = "error"
    reason: str
    text: str


class UserRejected(Payload):
    """A person did not allow an action, which was not run."""

    kind: Literal["user_rejected"] = "user_rejected"
    text: str


class PlanApproved(Payload):
    """A person wants the plan carried out that the agent has ended its reply with."""

    kind: Literal["plan_approved"] = "plan_approved"
    text: str


class AttemptStart(Value):
    """A worker has begun with a run, or with it again; `number` counts from 1."""

    run_id: JobId
    number: int


class WaitCause(StrEnum):
    """Why a model call is repeated later."""

    UNREACHABLE = "unreachable"
    RATE_LIMITED = "rate-limited"
    OVERLOADED = "overloaded"
    NO_ANSWER = "no-answer"


class ProviderWait(Value):
    """What a model call waits for, and for how many `seconds`.

    `host` is host and port of the `model`, empty where only the client library knows
    them. `detail` says in a few words what came instead of an answer. The next try is
    the `next_try`th; without `most_tries` their number has no limit.
    """

    cause: WaitCause
    seconds: float
    model: str = ""
    host: str = ""
    detail: str = ""
    next_try: int = 0
    most_tries: int = 0


class StateChanged(Payload):
    """The run is in another state; RATE_LIMITED has the time it lasts `until`.

    `wait` says what it waits for then; older logs do not have it. With `attempt` it is
    the first event of an attempt.
    """

    kind: Literal["state_changed"] = "state_changed"
    state: AgentState
    reason: str = ""
    until: datetime | None = None
    wait: ProviderWait | None = None
    attempt: AttemptStart | None = None

    @model_validator(mode="before")
    @classmethod
    def _read_old_attempt(cls, data: object) -> object:
        """Read an event from before there was `attempt`: its reason was a sentence."""
        if not isinstance(data, dict) or "attempt" in data:
            return data
        found = _OLD_ATTEMPT.fullmatch(str(data.get("reason", "")))
        if found is None:
            return data
        return {**data, "attempt": {"run_id": found[1], "number": found[2]}}


_OLD_ATTEMPT: Final = re.compile(r"run (\S+), attempt (\d+)")


class Condensed(Payload):
    """From here on the model sees less of what came before.

    The turns with ids from `first_id` to `last_id` are replaced by `summary`. Of the
    results in turns up to `masked_to` only a short line is left. 0 means none.
    `bytes_before` and `bytes_after` are the size of the chat. The event is about the
    chat of `agent`.
    """

    kind: Literal["condensed"] = "condensed"
    first_id: int = 0
    last_id: int = 0
    summary: str = ""
    masked_to: int = 0
    bytes_before: int = 0
    bytes_after: int = 0


class LoopDetected(Payload):
    """The run goes in circles; `pattern` describes the loop that was found."""

    kind: Literal["loop_detected"] = "loop_detected"
    pattern: str
    text: str


class Null(Payload):
    """The action has no result, and needs none."""

    kind: Literal["null"] = "null"


class RunStarted(Payload):
    """A run starts with this task, even if its thread changes later.

    A worker that continues the run after a crash uses this task and nothing newer.
    `repository` is what people call it: a folder's name, or `OWNER/NAME` on a forge.
    """

    kind: Literal["run_started"] = "run_started"
    run_id: str
    task: Task
    limits: Limits
    model: str = ""
    version: str = ""
    repository: str = ""


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


class ResultDelivered(Payload):
    """Where the result of a run on the command line is; the last event of its log.

    `folder` is the repository on this machine, empty for one on a forge. `patch` is the
    file of a change that is on no branch.
    """

    kind: Literal["result_delivered"] = "result_delivered"
    folder: str = ""
    branch: str = ""
    head_sha: str = ""
    pull_request_url: str = ""
    patch: str = ""
    files: tuple[FileStat, ...] = ()


class RequestBlocked(Payload):
    """Commands in a sandbox tried to reach a host, `count` times, and were blocked.

    `role` is the sandbox's. A `port` of 0 is one that is not known. `why` is the reason
    that the program got.
    """

    kind: Literal["request_blocked"] = "request_blocked"
    host: str
    port: int
    count: int
    first_at: datetime
    role: str = "work"
    why: str = ""


class SetUpRestored(Payload):
    """A sandbox was set up with the files that an earlier set-up had made.

    The `commands` were run at `made_at` and took `saved_s`; here none was run. To
    unpack its files, `bytes` in all, took `seconds`. `commit` is what the sandbox has.
    """

    kind: Literal["set_up_restored"] = "set_up_restored"
    commands: tuple[str, ...]
    made_at: datetime
    commit: str
    bytes: int
    seconds: float
    saved_s: float


class ProofStarted(Payload):
    """The controller begins to prove the commit; it replaces an earlier proof."""

    kind: Literal["proof_started"] = "proof_started"
    head_sha: str


class EvidenceRecorded(Payload):
    kind: Literal["evidence_recorded"] = "evidence_recorded"
    evidence: Evidence


class OutcomeReached(Payload):
    kind: Literal["outcome_reached"] = "outcome_reached"
    outcome: Outcome
