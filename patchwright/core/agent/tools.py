"""The tools of the model and of each agent, and the action that a call makes."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from patchwright.core.agent.results import ResultSchema, split_result, with_result
from patchwright.core.events import types as ev
from patchwright.core.llm.model import ToolSpec
from patchwright.core.mcp import McpTool
from patchwright.core.types.base import ReadableText, Value
from patchwright.core.types.work import ReviewAnswer, ReviewVerdict


class Arguments(BaseModel):
    """What a call passes; a misspelt name is an error the model gets to read."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ShellArguments(Arguments):
    command: str = Field(description="A bash script; may have several lines.")
    stdin: str = Field(default="", description="What the script reads.")
    interactive: bool = Field(
        default=False,
        description="Keep standard input open, for `shell_control` to write to.",
    )
    timeout_s: float | None = Field(
        default=None,
        gt=0,
        le=3600,
        description="Return after so many seconds, with a handle, if still running.",
    )


class ShellControlArguments(Arguments):
    handle: str = Field(description="The handle a running command returned.")
    act: ev.ControlAct
    text: str = Field(default="", description="For write: what to type.")
    timeout_s: float | None = Field(default=None, gt=0, le=3600)


class ReadArguments(Arguments):
    path: str = Field(description="A file or folder, relative to the repository.")
    start_line: int = Field(default=1, ge=1)
    end_line: int | None = Field(default=None, ge=1)


class WriteArguments(Arguments):
    path: str
    content: str


class EditArguments(Arguments):
    path: str
    edits: tuple[ev.Edit, ...] = Field(
        min_length=1,
        description="Applied in order, all or none. `old` must match exactly once, "
        "or `occurrence` says which match is meant.",
    )


class SearchArguments(Arguments):
    pattern: str = Field(description="A Python regular expression, matched per line.")
    path: str = "."
    glob: str = Field(default="", description="Only files like this, e.g. `*.py`.")


class ThinkArguments(Arguments):
    thought: str


class ReviewArguments(Arguments):
    """An answer to one review thread, by its number in the task, from 1."""

    thread: int
    verdict: ReviewVerdict
    text: ReadableText = ""


class FinishArguments(Arguments):
    summary: ReadableText = Field(
        description="What was wrong, what you changed and why; what is left undone."
    )
    title: ReadableText = Field(
        default="", description="Pull request title, imperative, under 65 characters."
    )
    answer: ReadableText = Field(
        default="", description="The answer, if the request was only a question."
    )
    test_commands: tuple[ReadableText, ...] = Field(
        default=(),
        description="Commands, run from the repository's root in a new shell, that "
        "fail without your change to the code and pass with it.",
    )
    reviews: tuple[ReviewArguments, ...] = Field(
        default=(),
        description="One for each review thread that is not resolved, by its number: "
        "what became of it, and in `text` a sentence or two for the reviewer.",
    )


class RejectArguments(Arguments):
    reason: ReadableText = Field(
        description="Why this should not or cannot be done here."
    )


class AskArguments(Arguments):
    question: ReadableText = Field(
        description="What you need to know, and the choices you see."
    )


class PythonArguments(Arguments):
    code: str = Field(description="Variables last from one call to the next.")
    timeout_s: float | None = Field(default=None, gt=0, le=3600)


class BrowseArguments(Arguments):
    url: str


class RecallArguments(Arguments):
    query: str = Field(description="A few words.")


class TodoArguments(Arguments):
    todos: tuple[ev.Todo, ...] = Field(description="Every step, in order.")


class DelegateArguments(Arguments):
    task: str = Field(
        min_length=1,
        description="Everything it must know: it sees this text and the repository.",
    )
    max_iterations: int | None = Field(default=None, ge=1)
    max_cost_usd: float | None = Field(default=None, gt=0)


def _without_titles(schema: Any) -> Any:  # noqa: ANN401 - any JSON
    """Drop what pydantic adds for readers of Python; it is paid for in tokens."""
    if isinstance(schema, dict):
        return {
            key: _without_titles(value)
            for key, value in schema.items()
            if not (key == "title" and isinstance(value, str))
        }
    if isinstance(schema, list):
        return [_without_titles(item) for item in schema]
    return schema


@cache
def _schema_of(arguments: type[Arguments]) -> dict[str, JsonValue]:
    """Return what pydantic takes some milliseconds to make, for each agent alike."""
    schema: dict[str, JsonValue] = _without_titles(arguments.model_json_schema())
    return schema


A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True)
class Tool(Generic[A]):
    """A tool: what the model reads of it, and the action that a call makes.

    `make` gets the arguments and the call's id.
    """

    name: str
    description: str
    arguments: type[A]
    make: Callable[[A, str], ev.AgentStep]

    def spec(self) -> ToolSpec:
        return ToolSpec(
            name=self.name,
            description=self.description,
            parameters=_schema_of(self.arguments),
        )

    def action(self, call: ev.ToolCall) -> ev.AgentStep:
        """Return what the call asks for; raises pydantic's `ValidationError`."""
        return self.make(self.arguments.model_validate_json(call.arguments), call.id)


def _tool(
    name: str, description: str, arguments: type[A], action: Callable[..., ev.AgentStep]
) -> Tool[A]:
    """Return a tool whose arguments are the fields of its action."""
    return Tool(
        name,
        description,
        arguments,
        lambda given, call: action(**dict(given), call_id=call),
    )


def _finish(*, reviews: tuple[ReviewArguments, ...], **given: Any) -> ev.Finish:  # noqa: ANN401 - the other fields of `FinishArguments`
    # Which part of an answer is the service's own words is not for the model to say.
    answers = tuple(
        ReviewAnswer(thread=one.thread, verdict=one.verdict, text=one.text)
        for one in reviews
    )
    return ev.Finish(reviews=answers, **given)


WORKING: Final[tuple[Tool[Any], ...]] = (
    _tool(
        "shell",
        "Run a script in a bash session whose folder and variables last. It has no "
        "terminal: a program that asks a question reads end-of-file.",
        ShellArguments,
        ev.RunCommand,
    ),
    _tool(
        "shell_control",
        "Wait for more output of a running command, type into it, or kill it.",
        ShellControlArguments,
        ev.ControlCommand,
    ),
    _tool(
        "read",
        "Show a text file with line numbers, or list a folder.",
        ReadArguments,
        ev.ReadFile,
    ),
    _tool("write", "Create a file or replace all of it.", WriteArguments, ev.WriteFile),
    _tool(
        "edit",
        "Replace pieces of a file; everything else in it stays, byte for byte.",
        EditArguments,
        ev.EditFile,
    ),
    _tool(
        "search",
        "Find lines in the repository's files.",
        SearchArguments,
        ev.SearchFiles,
    ),
    _tool(
        "python",
        "Run Python code in a lasting interpreter and see what it prints and its last "
        "value.",
        PythonArguments,
        ev.RunIpython,
    ),
    _tool(
        "browse",
        "Read a web page as text, also one that the sandbox serves.",
        BrowseArguments,
        ev.Browse,
    ),
    _tool("think", "Write down a thought. Nothing happens.", ThinkArguments, ev.Think),
    _tool(
        "todo",
        "Write down the plan of a longer piece of work, and how far it is.",
        TodoArguments,
        ev.WriteTodos,
    ),
)
ENDING: Final[tuple[Tool[Any], ...]] = (
    _tool(
        "finish",
        "End the work: the change is complete, or the question is answered.",
        FinishArguments,
        _finish,
    ),
    _tool(
        "reject",
        "End the work without a change, because it should not or cannot be done.",
        RejectArguments,
        ev.Reject,
    ),
)
RECALL: Final[Tool[Any]] = _tool(
    "recall",
    "Look up what this repository says for agents to know about a subject.",
    RecallArguments,
    ev.Recall,
)
ASK: Final[Tool[Any]] = _tool(
    "ask",
    "Ask people and wait for the answer, if something essential is missing.",
    AskArguments,
    ev.AskQuestion,
)
DELEGATE: Final[Tool[Any]] = _tool(
    "delegate",
    "Give a self-contained part of the work to another agent in the same sandbox, and "
    "get its report. It shares your budget.",
    DelegateArguments,
    ev.Delegate,
)


_RISK: Final = "risk"
_RISK_SCHEMA: Final[JsonValue] = {
    "type": "string",
    "enum": [ev.Risk.LOW, ev.Risk.MEDIUM, ev.Risk.HIGH],
    "description": "How much harm this could do outside the task.",
}


class Proposal(Value):
    """An action that the model wants, and how risky it says that is."""

    action: ev.AgentStep
    claimed: ev.Risk = ev.Risk.UNKNOWN


class Toolbox:
    """What the model is offered, the same in each request of a run.

    With `asks_risk` the model is asked to judge the risk of each call itself, and with
    a `result_schema` to hand over what fits it when it finishes.
    """

    def __init__(
        self,
        tools: Iterable[Tool[Any]],
        mcp_tools: Iterable[McpTool] = (),
        *,
        asks_risk: bool = False,
        result_schema: ResultSchema | None = None,
    ) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._mcp = {tool.name: tool for tool in mcp_tools}
        self._asks_risk = asks_risk
        self._asks_result = result_schema is not None
        specs = [tool.spec() for tool in self._tools.values()]
        if result_schema is not None:
            specs = [with_result(spec, result_schema) for spec in specs]
        specs += [_mcp_spec(tool) for tool in self._mcp.values()]
        self.specs = tuple(map(_with_risk, specs) if asks_risk else specs)

    def read(self, call: ev.ToolCall) -> Proposal | ev.ErrorObservation:
        """Return what a call asks for, or what to tell the model about it."""
        call, claimed = self._split_risk(call)
        call, result = split_result(call) if self._asks_result else (call, None)
        if tool := self._mcp.get(call.name):
            return Proposal(action=_mcp_call(tool, call), claimed=claimed)
        if call.name not in self._tools:
            return self._unknown(call)
        try:
            action = self._tools[call.name].action(call)
        except ValidationError as error:
            return _bad_arguments(call, error)
        if isinstance(action, ev.Finish):
            action = action.replace(result=result)
        return Proposal(action=action, claimed=claimed)

    def _split_risk(self, call: ev.ToolCall) -> tuple[ev.ToolCall, ev.Risk]:
        if not self._asks_risk:
            return call, ev.Risk.UNKNOWN
        arguments = json.loads(call.arguments)
        claimed = arguments.pop(_RISK, None)
        rest = call.replace(arguments=json.dumps(arguments))
        return rest, next((one for one in ev.Risk if one == claimed), ev.Risk.UNKNOWN)

    def _unknown(self, call: ev.ToolCall) -> ev.ErrorObservation:
        known = ", ".join([*self._tools, *self._mcp])
        text = f"There is no tool {call.name!r}. There are: {known}."
        return ev.ErrorObservation(reason="unknown-tool", text=text, call_id=call.id)


def _with_risk(spec: ToolSpec) -> ToolSpec:
    properties = spec.parameters.get("properties")
    named = properties if isinstance(properties, dict) else {}
    parameters = {**spec.parameters, "properties": {**named, _RISK: _RISK_SCHEMA}}
    return spec.replace(parameters=parameters)


def _mcp_spec(tool: McpTool) -> ToolSpec:
    return ToolSpec(
        name=tool.name, description=tool.description, parameters=tool.parameters
    )


def _mcp_call(tool: McpTool, call: ev.ToolCall) -> ev.CallMcpTool:
    return ev.CallMcpTool(
        server=tool.server,
        tool=tool.name,
        arguments=json.loads(call.arguments),
        call_id=call.id,
    )


def _bad_arguments(call: ev.ToolCall, error: ValidationError) -> ev.ErrorObservation:
    faults = "; ".join(
        f"{'.'.join(str(part) for part in fault['loc']) or 'arguments'}: {fault['msg']}"
        for fault in error.errors(include_url=False)
    )
    text = f"{call.name} was not run. {faults}."
    return ev.ErrorObservation(reason="bad-arguments", text=text, call_id=call.id)
