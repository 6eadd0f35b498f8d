"""Remember of a run what no summary may lose."""

import re
from dataclasses import dataclass
from typing import Final

from patchwright.core.events import types as ev
from patchwright.core.text.strings import truncate_middle

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
