"""The tools the model is offered, and the action each call stands for."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from patchwright.core.events.types import (
    Action,
    ControlAct,
    ControlCommand,
    Edit,
    EditFile,
    ErrorObservation,
    Finish,
    ReadFile,
    Reject,
    RunCommand,
    SearchFiles,
    Think,
    ToolCall,
    WriteFile,
)
from patchwright.core.llm.model import ToolSpec


class Arguments(BaseModel):
    """What a call passes; a misspelt name is an error the model gets to read."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ShellArguments(Arguments):
    command: str = Field(description="A bash script; may have several lines.")
    timeout_s: float | None = Field(
        default=None,
        gt=0,
        le=3600,
        description="Return after so many seconds, with a handle, if still running.",
    )


class ShellControlArguments(Arguments):
    handle: str = Field(description="The handle a running command returned.")
    act: ControlAct
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
    edits: tuple[Edit, ...] = Field(
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


class FinishArguments(Arguments):
    summary: str = Field(
        description="What was wrong, what you changed and why; what is left undone."
    )
    title: str = Field(
        default="", description="Pull request title, imperative, under 65 characters."
    )
    answer: str = Field(
        default="", description="The answer, if the request was only a question."
    )
    test_commands: tuple[str, ...] = Field(
        default=(),
        description="Commands, run from the repository's root in a new shell, that "
        "fail without your change to the code and pass with it.",
    )


class RejectArguments(Arguments):
    reason: str = Field(description="Why this should not or cannot be done here.")


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


A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True)
class Tool(Generic[A]):
    """A tool: what the model reads of it, and the action that a call makes."""

    name: str
    description: str
    arguments: type[A]
    make: Callable[[A, str], Action]

    def spec(self) -> ToolSpec:
        schema = _without_titles(self.arguments.model_json_schema())
        return ToolSpec(name=self.name, description=self.description, parameters=schema)

    def action(self, call: ToolCall) -> Action:
        return self.make(self.arguments.model_validate_json(call.arguments), call.id)


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "shell",
        "Run a script in a bash session whose folder and variables last. It has no "
        "terminal: a program that asks a question reads end-of-file.",
        ShellArguments,
        lambda a, call: RunCommand(
            command=a.command, timeout_s=a.timeout_s, call_id=call
        ),
    ),
    Tool(
        "shell_control",
        "Wait for more output of a running command, type into it, or kill it.",
        ShellControlArguments,
        lambda a, call: ControlCommand(**dict(a), call_id=call),
    ),
    Tool(
        "read",
        "Show a text file with line numbers, or list a folder.",
        ReadArguments,
        lambda a, call: ReadFile(**dict(a), call_id=call),
    ),
    Tool(
        "write",
        "Create a file or replace all of it.",
        WriteArguments,
        lambda a, call: WriteFile(**dict(a), call_id=call),
    ),
    Tool(
        "edit",
        "Replace pieces of a file; everything else in it stays, byte for byte.",
        EditArguments,
        lambda a, call: EditFile(**dict(a), call_id=call),
    ),
    Tool(
        "search",
        "Find lines in the repository's files.",
        SearchArguments,
        lambda a, call: SearchFiles(**dict(a), call_id=call),
    ),
    Tool(
        "think",
        "Write down a thought. Nothing happens.",
        ThinkArguments,
        lambda a, call: Think(thought=a.thought, call_id=call),
    ),
    Tool(
        "finish",
        "End the work: the change is complete, or the question is answered.",
        FinishArguments,
        lambda a, call: Finish(**dict(a), call_id=call),
    ),
    Tool(
        "reject",
        "End the work without a change, because it should not or cannot be done.",
        RejectArguments,
        lambda a, call: Reject(reason=a.reason, call_id=call),
    ),
)
SPECS: tuple[ToolSpec, ...] = tuple(tool.spec() for tool in TOOLS)

_BY_NAME = {tool.name: tool for tool in TOOLS}


def read_call(call: ToolCall) -> Action | ErrorObservation:
    """Return the action a call stands for, or what to tell the model about it."""
    tool = _BY_NAME.get(call.name)
    if tool is None:
        known = ", ".join(_BY_NAME)
        text = f"There is no tool {call.name!r}. There are: {known}."
        return ErrorObservation(reason="unknown-tool", text=text, call_id=call.id)
    try:
        return tool.action(call)
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(str(part) for part in fault['loc']) or 'arguments'}: "
            f"{fault['msg']}"
            for fault in error.errors(include_url=False)
        )
        text = f"{call.name} was not run. {faults}."
        return ErrorObservation(reason="bad-arguments", text=text, call_id=call.id)
