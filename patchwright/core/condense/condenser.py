"""The protocol of a condenser, its input, what lasts, and how it is applied."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from patchwright.core.events import types as ev
from patchwright.core.events.observations import Condensed, ModelReply
from patchwright.core.llm.model import ChatMessage, ToolResult, UserText
from patchwright.core.text.strings import truncate_middle
from patchwright.core.types.base import Value


class Turn(Value):
    """A piece of the chat that stays whole: a reply with all its results, or a text.

    `id` is that of the event it comes from, and grows from turn to turn; an earlier
    summary is a turn like any other. `is_pinned` marks what must never be condensed:
    the task, and what people have said since.
    """

    id: int
    messages: tuple[ChatMessage, ...]
    size_bytes: int
    is_pinned: bool = False


class History(Value):
    """The chat as the model would see it now, without the system text.

    `facts` are lines that a summary must not lose: touched files, failing tests, open
    to-dos, the last diff. `goal_bytes` is what `turns` should have in all when they
    have been condensed.
    """

    turns: tuple[Turn, ...]
    facts: str = ""
    goal_bytes: int = 0

    @property
    def size_bytes(self) -> int:
        return sum(turn.size_bytes for turn in self.turns)


# Asks the model that condenses; it is paid for and written down. The first text is
# the system's, the second what it is about. Raises the errors of `core.llm.errors`
# and `OverBudgetError`.
Ask = Callable[[str, str], ModelReply]


class Condenser(Protocol):
    """Decides what of a long conversation the model goes on seeing.

    It is asked when the chat nears the model's window, and once more after each thing
    it did did not suffice. None means that it cannot make it any shorter.
    """

    name: str

    def condense(self, history: History, ask: Ask) -> Condensed | None:
        """Return what to leave out; the sizes in it are filled in by the caller."""
        ...


GOAL: Final = 0.4
NEWEST_TURNS: Final = 3
NEWEST_SHARE: Final = 0.15
# What the newest turns leave, of the room that is there, to what stands for the others.
LEFT_SHARE: Final = 0.25
# What stands for the others may have so much, however little room there is.
LEAST_BYTES: Final = 1_050


class HistoryParts(Value):
    """`older` may go; `newest` are the turns that the agent is in the middle of."""

    older: tuple[Turn, ...]
    newest: tuple[Turn, ...]


def goal_bytes_of(history: History) -> int:
    return history.goal_bytes or round(history.size_bytes * GOAL)


def free_bytes_of(history: History) -> int:
    """Return what the goal leaves to everything that is not pinned."""
    pinned = total_bytes(turn for turn in history.turns if turn.is_pinned)
    return max(goal_bytes_of(history) - pinned, 0)


def split_history(history: History) -> HistoryParts:
    """Keep at least three turns, and 15 %, where that is within the goal.

    The very newest stays in any case: nobody has read its results.
    """
    room = round(free_bytes_of(history) * (1 - LEFT_SHARE))
    share = round(history.size_bytes * NEWEST_SHARE)
    free = [turn for turn in history.turns if not turn.is_pinned]
    newest: list[Turn] = []
    for turn in reversed(free):
        enough = len(newest) >= NEWEST_TURNS and total_bytes(newest) >= share
        if newest and (enough or total_bytes([*newest, turn]) > room):
            break
        newest.insert(0, turn)
    return HistoryParts(
        older=tuple(free[: len(free) - len(newest)]), newest=tuple(newest)
    )


def split_history_to_fill(history: History, reserved_bytes: int) -> HistoryParts:
    """Keep all the newest turns that fit the goal beside so many bytes."""
    room = free_bytes_of(history) - reserved_bytes
    free = [turn for turn in history.turns if not turn.is_pinned]
    kept = 1
    while kept < len(free) and total_bytes(free[-kept - 1 :]) <= room:
        kept += 1
    return HistoryParts(older=tuple(free[:-kept]), newest=tuple(free[-kept:]))


def total_bytes(turns: Iterable[Turn]) -> int:
    return sum(turn.size_bytes for turn in turns)


# A shorter result would not get much shorter; and what is masked is not masked again.
MASKED_FROM_BYTES: Final = 200


def apply_condensation(turns: Sequence[Turn], condensed: Condensed) -> tuple[Turn, ...]:
    """Return the turns as they are from this condensation on.

    The summary takes the place and the id of the last turn that goes, so that it comes
    after the words of people that it covers. Pinned turns stay as they are.
    """
    gone = [turn.id for turn in turns if _goes(turn, condensed)]
    shown: list[Turn] = []
    for turn in turns:
        if not _goes(turn, condensed):
            shown.append(_masked(turn) if _is_masked(turn, condensed) else turn)
        elif turn.id == gone[-1] and condensed.summary:
            shown.append(_summary(turn.id, condensed.summary))
    return tuple(shown)


def text_bytes(text: str) -> int:
    """Return the size of a text as `Turn.size_bytes` counts it."""
    return len(text.encode(errors="replace"))


def size_after(turns: Sequence[Turn], condensed: Condensed) -> int:
    """Return how many bytes the turns have after the condensation."""
    return sum(turn.size_bytes for turn in apply_condensation(turns, condensed))


def _goes(turn: Turn, condensed: Condensed) -> bool:
    inside = 0 < condensed.first_id <= turn.id <= condensed.last_id
    return inside and not turn.is_pinned


def _is_masked(turn: Turn, condensed: Condensed) -> bool:
    return turn.id <= condensed.masked_to and not turn.is_pinned


def _masked(turn: Turn) -> Turn:
    messages = tuple(map(_without_result, turn.messages))
    saved = sum(
        text_bytes(old.text) - text_bytes(new.text)
        for old, new in zip(turn.messages, messages, strict=True)
    )
    return turn.replace(messages=messages, size_bytes=turn.size_bytes - saved)


def _without_result(message: ChatMessage) -> ChatMessage:
    if not isinstance(message, ToolResult):
        return message
    size = text_bytes(message.text)
    if size <= MASKED_FROM_BYTES:
        return message
    text = f"[result left out: {size:,} bytes; run it again if needed]"
    return ToolResult(call_id=message.call_id, text=text)


def _summary(turn_id: int, text: str) -> Turn:
    size = text_bytes(text)
    return Turn(id=turn_id, messages=(UserText(text=text),), size_bytes=size)


_RUNNER: Final = re.compile(
    r"(?:^|[\s;&|(/])"
    r"(?:pytest|py\.test|tox|nox|unittest|nose2|trial|jest|vitest|mocha|ava|karma"
    r"|rspec|phpunit|pest|ctest|bats|prove|busted|minitest"
    r"|(?:npm|pnpm|yarn|bun|deno|cargo|go|mvn|mvnw|gradle|gradlew|dotnet|swift|mix"
    r"|rake|rails|stack|cabal|dune|zig|bazel|sbt|lein|composer|make|just|task|flutter"
    r"|dart|hatch|manage\.py)(?:\s+(?:run|-\S+))*\s+(?:test|check|spec)\b"
    r"|cargo\s+nextest)"
    r"(?![\w.=-])"
)


def is_test_command(command: str) -> bool:
    return _RUNNER.search(command) is not None


MAX_PATHS: Final = 40
MAX_TODOS: Final = 20
MAX_LINE_CHARS: Final = 120
MAX_TAIL_CHARS: Final = 1_500
MAX_DIFF_CHARS: Final = 2_000

_SHOWS_DIFF: Final = re.compile(r"(?:^|[\s;&|])git\s+(?:--?\S+\s+)*diff\b")


@dataclass(frozen=True)
class _FailedTest:
    command: str
    exit_code: int
    tail: str


class LastingFacts:
    """Folds events, at a constant cost each, into lines that survive condensing.

    The work tree is shared by an agent and its delegates; a plan is its agent's own.
    """

    def __init__(self) -> None:
        self._commands: dict[int, str] = {}
        self._running: dict[str, str] = {}
        self._paths: dict[str, None] = {}
        self._todos: dict[str, tuple[ev.Todo, ...]] = {}
        self._failed: _FailedTest | None = None
        self._diff = ""

    def add(self, event: ev.Event) -> None:
        payload = event.payload
        if isinstance(payload, ev.RunCommand):
            self._commands[event.id] = payload.command
        elif isinstance(payload, ev.ControlCommand):
            self._commands[event.id] = self._running.get(payload.handle, "")
        elif isinstance(payload, ev.WriteTodos):
            self._todos[payload.agent] = payload.todos
        elif isinstance(payload, ev.Observation):
            command = self._commands.pop(event.cause or 0, "")
            if isinstance(payload, ev.CommandOutput):
                self._add_output(command, payload)
            elif isinstance(payload, ev.FileEdited):
                self._add_edit(payload)

    def text(self, agent: str = "") -> str:
        """Return the facts as lines for the model; empty when there are none."""
        parts = (
            self._paths_text(),
            self._failed_text(),
            self._todos_text(agent),
            _quoted("The last diff:", self._diff) if self._diff else "",
        )
        return "\n".join(part for part in parts if part)

    def _add_output(self, command: str, output: ev.CommandOutput) -> None:
        if output.still_running:
            self._running[output.handle] = command
            return
        self._running.pop(output.handle, None)
        if is_test_command(command):
            self._add_test(command, output)
        elif output.exit_code == 0 and _SHOWS_DIFF.search(command):
            self._diff = (
                truncate_middle(output.output.strip(), MAX_DIFF_CHARS) or self._diff
            )

    def _add_test(self, command: str, output: ev.CommandOutput) -> None:
        if output.exit_code:
            tail = output.output.strip()[-MAX_TAIL_CHARS:]
            self._failed = _FailedTest(command, output.exit_code, tail)
        elif output.exit_code == 0 and self._failed and self._failed.command == command:
            self._failed = None

    def _add_edit(self, edited: ev.FileEdited) -> None:
        self._paths.pop(edited.path, None)
        self._paths[edited.path] = None
        if edited.diff:
            self._diff = truncate_middle(edited.diff.strip(), MAX_DIFF_CHARS)

    def _paths_text(self) -> str:
        if not self._paths:
            return ""
        newest = [_line(path) for path in list(self._paths)[-MAX_PATHS:]]
        more = len(self._paths) - len(newest)
        rest = f", and {more} more" if more else ""
        return f"Files written so far: {', '.join(newest)}{rest}"

    def _failed_text(self) -> str:
        if self._failed is None:
            return ""
        command = _line(self._failed.command)
        head = f"The last test that failed (exit code {self._failed.exit_code}):"
        return _quoted(f"{head} {command}", self._failed.tail)

    def _todos_text(self, agent: str) -> str:
        left = [todo for todo in self._todos.get(agent, ()) if todo.state != "done"]
        if not left:
            return ""
        lines = [f"- [{todo.state}] {_line(todo.text)}" for todo in left[:MAX_TODOS]]
        return "\n".join(["What is left of the plan:", *lines])


def _line(text: str) -> str:
    return " ".join(truncate_middle(" ".join(text.split()), MAX_LINE_CHARS).split())


def _quoted(head: str, text: str) -> str:
    return "\n".join([head, *(f"    {line}" for line in text.splitlines())])
