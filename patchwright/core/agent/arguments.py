"""What each tool takes: the arguments as the model is to write them."""

from pydantic import BaseModel, ConfigDict, Field

from patchwright.core.events.types import ControlAct, Edit, Todo
from patchwright.core.types.words import ReadableText
from patchwright.core.types.work import ReviewVerdict


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
    reason: ReadableText = Field(description="Why this should not or cannot be done here.")


class PythonArguments(Arguments):
    code: str = Field(description="Variables last from one call to the next.")
    timeout_s: float | None = Field(default=None, gt=0, le=3600)


class BrowseArguments(Arguments):
    url: str


class RecallArguments(Arguments):
    query: str = Field(description="A few words.")


class TodoArguments(Arguments):
    todos: tuple[Todo, ...] = Field(description="Every step, in order.")


class DelegateArguments(Arguments):
    task: str = Field(
        min_length=1,
        description="Everything it must know: it sees this text and the repository.",
    )
    max_iterations: int | None = Field(default=None, ge=1)
    max_cost_usd: float | None = Field(default=None, gt=0)
