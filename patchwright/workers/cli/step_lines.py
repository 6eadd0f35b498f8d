"""The steps of a run as blocks of lines: the model's words, its plan, its actions."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from rich.text import Text

from patchwright.core.agent.loop_finder import describe_step
from patchwright.core.events import types as ev
from patchwright.core.replay.story import Tone, observation_phrase
from patchwright.core.text.strings import truncate_middle
from patchwright.resolver.messages.elements import duration_text
from patchwright.workers.cli.terminal import plain

TONE_STYLES: Final = {
    Tone.PLAIN: "dim",
    Tone.GOOD: "green",
    Tone.BAD: "red",
    Tone.OPEN: "yellow",
}
_MOST_WORDS: Final = 600
_MOST_COMMAND: Final = 2_000
_MOST_LINES: Final = 12
_LAST_LINES: Final = 3
# A shorter time is not worth its place.
_LEAST_SHOWN_S: Final = 2.0
_MARKS: Final = {"open": "·", "doing": "▸", "done": "✓"}


@dataclass(frozen=True)
class Block:
    """Lines of one step; the first block of a step has its `number`.

    `depth` is 1 for what a delegate does.
    """

    text: Text
    number: int = 0
    depth: int = 0


@dataclass(frozen=True)
class _Running:
    """An action without a result yet; what `is_shown` has its lines already."""

    text: str
    at: datetime
    is_shown: bool
    path: str = ""


class StepReader:
    """Reads events in order, and returns what there is to show of each.

    `running` is the present action in a few words, empty while the model is asked.
    """

    def __init__(self) -> None:
        self.todos: tuple[ev.Todo, ...] = ()
        self.changed: tuple[str, ...] = ()
        self._number = 0
        self._is_numbered = True
        self._action: _Running | None = None

    @property
    def running(self) -> str:
        return self._action.text.splitlines()[0] if self._action else ""

    def read(self, event: ev.Event, iterations: int) -> Iterator[Block]:
        """Yield what is to be shown; `iterations` counts the steps so far."""
        payload = event.payload
        depth = int(bool(payload.agent))
        if isinstance(payload, ev.ModelReply):
            yield from self._begin(payload, iterations, depth)
        elif event.source is ev.Source.AGENT and isinstance(payload, ev.AgentStep):
            yield from self._numbered(self._act(payload, event.at), depth)
        elif event.source is ev.Source.ENVIRONMENT and isinstance(
            payload, ev.Observation
        ):
            yield from self._numbered(self._result(payload, event.at), depth)

    def end(self) -> Iterator[Block]:
        """Yield the last step if nothing was shown of it."""
        if not self._is_numbered:
            yield from self._numbered([Text("no action", style="dim")], 0)

    def _begin(self, reply: ev.ModelReply, number: int, depth: int) -> Iterator[Block]:
        yield from self.end()
        self._number, self._is_numbered, self._action = number, False, None
        words = " ".join(plain(reply.text).plain.split())
        if words:
            shown = Text(truncate_middle(words, _MOST_WORDS), style="italic")
            yield from self._numbered([shown], depth)
        finish = next((one for one in reply.tool_calls if one.name == "finish"), None)
        if finish is not None:
            # Its action comes after the proof, which takes its time.
            yield from self._numbered([_finish_text(finish)], depth)
        elif not words and not reply.tool_calls:
            why = f"the model did not answer ({reply.stop_reason})"
            yield from self._numbered([plain(why, "red")], depth)

    def _numbered(self, texts: Sequence[Text], depth: int) -> Iterator[Block]:
        for text in texts:
            number = 0 if self._is_numbered else self._number
            self._is_numbered = True
            yield Block(text, number, depth)

    def _act(self, action: ev.AgentStep, at: datetime) -> Sequence[Text]:
        match action:
            case ev.RunCommand(command=command):
                self._action = _Running(f"$ {command.strip()}", at, is_shown=True)
                return [_folded(self._action.text)]
            case ev.RunIpython(code=code):
                self._action = _Running(f">>> {code.strip()}", at, is_shown=True)
                return [_folded(self._action.text)]
            case ev.WriteTodos(todos=todos) if not action.agent:
                return [self._plan(todos)]
            case ev.Think(thought=thought):
                return [plain(truncate_middle(thought.strip(), _MOST_WORDS), "italic")]
            case ev.Finish():
                return []
            case _:
                path = getattr(action, "path", "")
                text = _short_action(action)
                self._action = _Running(text, at, is_shown=False, path=path)
                return []

    def _plan(self, todos: tuple[ev.Todo, ...]) -> Text:
        """Show the plan: all of a new one, and later what is different."""
        before, self.todos = self.todos, todos
        shown = [one for one in todos if one not in before]
        lines = [f"  {_MARKS[one.state]} {_one_line(one.text)}" for one in shown]
        return Text("\n".join(["plan", *lines] if lines else ["plan unchanged"]))

    def _result(self, observation: ev.Observation, at: datetime) -> Sequence[Text]:
        action, self._action = self._action, None
        phrase = observation_phrase(observation)
        result = plain(phrase.text, TONE_STYLES[phrase.tone])
        if action is None:
            is_error = isinstance(observation, ev.ErrorObservation)
            return [result] if is_error else []
        if isinstance(observation, ev.FileEdited) and action.path:
            self.changed = tuple(dict.fromkeys((*self.changed, action.path)))
        took_s = (at - action.at).total_seconds()
        if took_s >= _LEAST_SHOWN_S:
            result.append(f" · {duration_text(took_s)}", style="dim")
        if action.is_shown:
            return [Text("  ").append_text(result)]
        shown = plain(action.text)
        return [shown.append("  ").append_text(result) if result else shown]


def _finish_text(call: ev.ToolCall) -> Text:
    arguments = json.loads(call.arguments)
    return plain(f"finish: {_one_line(str(arguments.get('title') or ''))}".strip(": "))


_VERBS: Final = {
    "read_file": "read",
    "write_file": "write",
    "edit_file": "edit",
    "search_files": "search",
    "call_mcp_tool": "call",
}


def _short_action(action: ev.AgentStep) -> str:
    name, _, rest = describe_step(action).partition(" ")
    return f"{_VERBS.get(name, name)} {rest}".strip()


def _one_line(text: str) -> str:
    return " ".join(plain(text).plain.split())


def _folded(command: str) -> Text:
    """Show a whole command; of a very long one the first and the last lines."""
    lines = plain(truncate_middle(command, _MOST_COMMAND)).plain.splitlines()
    hidden = len(lines) - _MOST_LINES
    if hidden <= 1:
        return Text("\n".join(lines))
    first = lines[: _MOST_LINES - _LAST_LINES]
    folded = f"… {hidden} lines …"
    return Text("\n".join([*first, folded, *lines[-_LAST_LINES:]]))
