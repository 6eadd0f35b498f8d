"""Invariant 10: a recorded run replays to the same events."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from patchwright.core.events.actions import ChangeState, Message, RaiseLimits
from patchwright.core.events.log import EventLog
from patchwright.core.events.observations import ModelReply, StateChanged
from patchwright.core.events.payload import AgentState, Source
from patchwright.core.events.types import Event
from patchwright.core.llm.errors import (
    ModelDeclinedError,
    ModelRateLimitError,
    ModelUnavailableError,
)
from patchwright.core.llm.model import Models
from patchwright.core.replay.comparison import compare
from tests.fakes.scripted_model import ScriptedModel, Step, reply
from tests.unit.trajectory.normal import normalise
from tests.unit.trajectory.stage import Play, record, repeat, while_asked

Call = tuple[str, dict[str, JsonValue]]

CALLS: list[Call] = [
    ("shell", {"command": "echo 1"}),
    ("shell", {"command": "true"}),
    ("shell", {"command": "cat nothing"}),
    ("shell", {}),
    ("shell", {"command": "true", "speed": "fast"}),
    ("write", {"path": "a", "content": "1"}),
    ("read", {"path": "a"}),
    ("think", {"thought": "Why?"}),
    ("delegate", {"task": "Look there."}),
    ("delegate", {"task": "Look here.", "max_iterations": 2}),
    ("fly", {}),
    ("finish", {"summary": "Done."}),
    ("reject", {"reason": "It would."}),
    ("ask", {"question": "Which?"}),
]
FINISH = reply(calls=[("finish", {"summary": "Done."})])
ENDLESS: list[Step] = [FINISH] * 30
Words = Message | ChangeState | RaiseLimits
Turn = tuple[ModelReply, Words | None]
WORDS: list[Words] = [
    Message(text="use tabs"),
    Message(text="not heard"),
    Message(text="stop"),
    RaiseLimits(iterations=2),
    ChangeState(state=AgentState.STOPPED, reason="alice"),
    ChangeState(state=AgentState.PAUSED, reason="alice"),
]
ERRORS = [
    ModelUnavailableError("gone"),
    ModelDeclinedError("no"),
    ModelRateLimitError("later"),
]

replies = st.builds(
    lambda text, calls, broken: reply(
        text, calls, malformed={"call_1": "no JSON"} if broken and calls else {}
    ),
    st.sampled_from(["", "Hm."]),
    st.lists(st.sampled_from(CALLS), max_size=3),
    st.booleans(),
).filter(lambda one: bool(one.text or one.tool_calls))
turns = st.tuples(replies, st.none() | st.sampled_from(WORDS))
scripts = st.lists(turns, max_size=8)


def hear(event: Event) -> Message | ChangeState | None:
    assert isinstance(event.payload, Message)
    match event.payload.text:
        case "stop":
            return ChangeState(state=AgentState.STOPPED, reason="bob")
        case "use tabs":
            return Message(text="Somebody says: use tabs")
        case _:
            return None


def go_on(log: EventLog) -> bool:
    """Answer a question, or end a pause."""
    [last] = log.read(kinds=frozenset({"state_changed"}), reverse=True, limit=1)
    assert isinstance(last.payload, StateChanged)
    answer: Words = ChangeState(state=AgentState.RUNNING, reason="bob")
    if last.payload.state is AgentState.AWAITING_USER_INPUT:
        answer = Message(text="use tabs")
    log.append(Source.USER, answer)
    return True


def _steps(log: EventLog, turns: list[Turn]) -> list[Step]:
    return [while_asked(log, words, said) if words else said for said, words in turns]


@given(scripts, scripts, st.none() | st.sampled_from(ERRORS))
@settings(max_examples=60, deadline=None)
def test_any_run_replays_to_the_same_events(
    main: list[Turn],
    child: list[Turn],
    error: Exception | None,
) -> None:
    def play(log: EventLog) -> Play:
        end: list[Step] = [error] if error else []
        own = ScriptedModel([*_steps(log, main), *end, *ENDLESS])
        other = ScriptedModel([*_steps(log, child), *ENDLESS])
        models = Models(main=own, condense=own, delegate=other)
        return Play(models, hear=hear, answer=go_on, depth=2)

    with tempfile.TemporaryDirectory() as folder:
        recorded = record(Path(folder), play)
        repeated = repeat(Path(folder), recorded)
    assert normalise(repeated) == normalise(recorded)
    assert compare(recorded, repeated).is_same
