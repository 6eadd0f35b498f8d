"""Chats to condense: built by hand, or any that Hypothesis can think of."""

from collections.abc import Sequence

from hypothesis import strategies as st

from patchwright.core.condense.condenser import History, Turn
from patchwright.core.events.observations import ModelReply
from patchwright.core.events.payload import ToolCall
from patchwright.core.llm.model import (
    AssistantTurn,
    ChatMessage,
    ToolResult,
    UserText,
)


def size_of(messages: Sequence[ChatMessage]) -> int:
    return sum(
        len(message.text.encode())
        + sum(
            len(call.name) + len(call.arguments.encode())
            for call in (
                message.tool_calls if isinstance(message, AssistantTurn) else ()
            )
        )
        for message in messages
    )


def turn(turn_id: int, *messages: ChatMessage, pinned: bool = False) -> Turn:
    return Turn(
        id=turn_id, messages=messages, size_bytes=size_of(messages), is_pinned=pinned
    )


def said(turn_id: int, text: str) -> Turn:
    """Return words of a person, which are pinned."""
    return turn(turn_id, UserText(text=text), pinned=True)


def told(turn_id: int, text: str) -> Turn:
    """Return words of the system, which are not."""
    return turn(turn_id, UserText(text=text))


def ran(turn_id: int, command: str, output: str, *, text: str = "") -> Turn:
    """Return a step that ran one command."""
    return step(turn_id, [(command, output)], text=text)


def step(turn_id: int, commands: list[tuple[str, str]], *, text: str = "") -> Turn:
    calls = tuple(
        ToolCall(
            id=f"c{turn_id}-{number}",
            name="shell",
            arguments=f'{{"command": "{command}"}}',
        )
        for number, (command, _) in enumerate(commands)
    )
    results = [
        ToolResult(call_id=call.id, text=output)
        for call, (_, output) in zip(calls, commands, strict=True)
    ]
    return turn(turn_id, AssistantTurn(text=text, tool_calls=calls), *results)


def history(*turns: Turn, facts: str = "", goal_bytes: int = 0) -> History:
    return History(turns=turns, facts=facts, goal_bytes=goal_bytes)


def texts(turns: Sequence[Turn]) -> list[str]:
    return [message.text for turn in turns for message in turn.messages]


class Asked:
    """A model that condenses by giving one answer, and remembers the questions."""

    def __init__(self, text: str, stop_reason: str = "stop") -> None:
        self.questions: list[tuple[str, str]] = []
        self._reply = ModelReply(text=text, stop_reason=stop_reason)

    def __call__(self, system: str, text: str) -> ModelReply:
        self.questions.append((system, text))
        return self._reply


def ask_nobody(system: str, text: str) -> ModelReply:
    raise AssertionError(f"nobody was to be asked: {system} {text}")


_TEXTS = st.text(st.characters(codec="utf-8"), max_size=60).flatmap(
    lambda text: st.sampled_from([text, text * 5, text * 100])
)


@st.composite
def chats(draw: st.DrawFn) -> History:
    """Draw a chat: the task, then steps with some calls, and what people say."""
    turns = [said(1, f"task {draw(_TEXTS)}")]
    for turn_id in range(2, 2 + draw(st.integers(0, 14))):
        match draw(st.sampled_from(["step", "step", "step", "person", "system"])):
            case "person":
                turns.append(said(turn_id, f"said {draw(_TEXTS)}"))
            case "system":
                turns.append(told(turn_id, draw(_TEXTS)))
            case _:
                calls = st.lists(st.tuples(st.just("ls"), _TEXTS), max_size=3)
                turns.append(step(turn_id, draw(calls), text=draw(_TEXTS)))
    facts = draw(st.sampled_from(["", "Files written so far: a.py, ü.py"]))
    size = sum(turn.size_bytes for turn in turns)
    goal = draw(st.sampled_from([0, round(size * 0.4), round(size * 0.1)]))
    return history(*turns, facts=facts, goal_bytes=goal)
