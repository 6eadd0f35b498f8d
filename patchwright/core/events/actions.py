"""The actions: what the agent does, and what people tell a run to do."""

from enum import StrEnum
from typing import Literal

from pydantic import JsonValue

from patchwright.core.events.payload import AgentState, Payload, Risk, Todo
from patchwright.core.types.base import ReadableText, Value
from patchwright.core.types.work import ReviewAnswer


class AgentAction(Payload):
    """Something the model asked for; `risk` is what the analyzers made of it."""

    risk: Risk = Risk.UNKNOWN


# In the sandbox


class RunCommand(AgentAction):
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


class ControlCommand(AgentAction):
    """Wait for, write to, or kill the running command that `handle` names."""

    kind: Literal["control_command"] = "control_command"
    handle: str
    act: ControlAct
    text: str = ""
    timeout_s: float | None = None


class RunIpython(AgentAction):
    """Run Python code in the sandbox's one interpreter, whose variables last."""

    kind: Literal["run_ipython"] = "run_ipython"
    code: str
    timeout_s: float | None = None


class ReadFile(AgentAction):
    """Read lines `start_line` to `end_line` (from 1, inclusive), or list a folder."""

    kind: Literal["read_file"] = "read_file"
    path: str
    start_line: int = 1
    end_line: int | None = None


class WriteFile(AgentAction):
    kind: Literal["write_file"] = "write_file"
    path: str
    content: str


class Edit(Value):
    """Replace `old` by `new`: the only match, or the `occurrence`th one (from 1)."""

    old: str
    new: str
    occurrence: int | None = None


class EditFile(AgentAction):
    """Apply all the edits to one file, in order, or none of them."""

    kind: Literal["edit_file"] = "edit_file"
    path: str
    edits: tuple[Edit, ...]


class SearchFiles(AgentAction):
    """Find lines that match a regular expression, in files whose path fits `glob`."""

    kind: Literal["search_files"] = "search_files"
    pattern: str
    path: str = "."
    glob: str = ""


class Browse(AgentAction):
    """Open a page from within the sandbox and read it as text."""

    kind: Literal["browse"] = "browse"
    url: str
    timeout_s: float | None = None


# Elsewhere


class CallMcpTool(AgentAction):
    """Call a tool of a Model Context Protocol server."""

    kind: Literal["call_mcp_tool"] = "call_mcp_tool"
    server: str
    tool: str
    arguments: dict[str, JsonValue] = {}


class Delegate(AgentAction):
    """Give a part of the work to another agent, which sees only this task.

    `max_iterations` and `max_cost_usd` bound it within what the run has left.
    """

    kind: Literal["delegate"] = "delegate"
    task: str
    max_iterations: int | None = None
    max_cost_usd: float | None = None


class Recall(AgentAction):
    """Look something up in what the repository says for agents to know."""

    kind: Literal["recall"] = "recall"
    query: str


class Condense(AgentAction):
    """Ask for the older part of the conversation to be condensed now."""

    kind: Literal["condense"] = "condense"


class Think(AgentAction):
    kind: Literal["think"] = "think"
    thought: str


class WriteTodos(AgentAction):
    """Replace the plan: every step, in order, with how far it is."""

    kind: Literal["write_todos"] = "write_todos"
    todos: tuple[Todo, ...]


class Message(Payload):
    """Words from a person, the system or the agent, in `Event.source`'s name.

    `removed` counts the hidden things that were taken out of them.
    """

    kind: Literal["message"] = "message"
    text: str
    removed: int = 0


class Finish(AgentAction):
    """The agent says that it is done.

    `test_commands` are those that fail before the change and pass after it; `answer`
    is what to tell the person when the request was a question; `reviews` answer the
    review threads that the task has shown. `result` is what a schema has asked for.
    """

    kind: Literal["finish"] = "finish"
    summary: ReadableText
    title: ReadableText = ""
    answer: ReadableText = ""
    test_commands: tuple[ReadableText, ...] = ()
    reviews: tuple[ReviewAnswer, ...] = ()
    result: JsonValue = None


class Reject(AgentAction):
    """The agent says that it will not or cannot do this, and why."""

    kind: Literal["reject"] = "reject"
    reason: ReadableText


class AskQuestion(AgentAction):
    """The agent needs to know something of people, and waits for their answer."""

    kind: Literal["ask"] = "ask"
    question: ReadableText


# What people may ask of a run


class ChangeState(Payload):
    """A person wants the run in another state; `reason` says who.

    STOPPED, PAUSED and RUNNING need no explanation. USER_CONFIRMED and USER_REJECTED
    are about the waiting action whose `digest` they carry, and no other.
    """

    kind: Literal["change_state"] = "change_state"
    state: AgentState
    reason: str = ""
    digest: str = ""


class RaiseLimits(Payload):
    """A person allows the run more than it started with; `reason` says who."""

    kind: Literal["raise_limits"] = "raise_limits"
    iterations: int = 0
    cost_usd: float = 0.0
    reason: str = ""
