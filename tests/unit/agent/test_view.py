"""What the model sees only ever grows at its end, and is always a valid chat."""

from datetime import UTC, datetime
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.agent.view import View
from patchwright.core.events.types import (
    AgentState,
    CommandOutput,
    Event,
    Known,
    Message,
    ModelReply,
    Null,
    Source,
    StateChanged,
    Think,
    ToolCall,
    Unknown,
)
from patchwright.core.llm.model import (
    AssistantTurn,
    ChatMessage,
    SystemText,
    ToolResult,
)

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


class Writer:
    """Makes the events of one log and shows each to the view."""

    def __init__(self) -> None:
        self.view = View("Be good.")
        self.said = 0
        self._next_id = 1

    def add(
        self, payload: Known | Unknown, source: Source, cause: int | None = None
    ) -> int:
        event_id = self._next_id
        self._next_id += 1
        event = Event(id=event_id, at=NOON, source=source, cause=cause, payload=payload)
        self.view.extend([event])
        return event_id

    def say(self, text: str) -> int:
        self.said += 1
        return self.add(Message(text=text), Source.SYSTEM)

    def reply(self, *call_ids: str, seen_id: int | None = None) -> int:
        calls = tuple(
            ToolCall(id=one, name="think", arguments="{}") for one in call_ids
        )
        payload = ModelReply(text="So.", tool_calls=calls)
        return self.add(payload, Source.AGENT, seen_id)

    def result(self, call_id: str) -> int:
        return self.add(Null(call_id=call_id), Source.ENVIRONMENT)


def texts(messages: tuple[ChatMessage, ...]) -> list[str]:
    return [message.text for message in messages]


def test_it_begins_with_the_system_prompt() -> None:
    assert Writer().view.messages() == (SystemText(text="Be good."),)


def test_a_reply_is_repeated_as_it_came() -> None:
    writer = Writer()
    call = ToolCall(id="a", name="shell", arguments='{"command": "ls"}')
    reasoning: tuple[dict[str, str], ...] = ({"type": "thinking", "signature": "s"},)
    payload = ModelReply(
        model="m", text="Look.", tool_calls=(call,), reasoning=reasoning
    )
    writer.add(payload, Source.AGENT)
    writer.add(CommandOutput(exit_code=0, output="x", call_id="a"), Source.ENVIRONMENT)
    assert writer.view.messages()[1:] == (
        AssistantTurn(model="m", text="Look.", tool_calls=(call,), reasoning=reasoning),
        ToolResult(call_id="a", text="x\n[exit code 0]"),
    )


def test_a_call_without_a_result_is_shown_as_unknown() -> None:
    writer = Writer()
    writer.reply("a", "b")
    writer.result("b")
    assert writer.view.messages()[2:] == (
        ToolResult(call_id="a", text="[it is not known what came of it]"),
        ToolResult(call_id="b", text="[noted]"),
    )


def test_a_message_that_came_during_a_call_goes_after_its_reply() -> None:
    writer = Writer()
    seen_id = writer.say("task")
    writer.say("follow-up")
    writer.reply("a", seen_id=seen_id)
    writer.result("a")
    assert texts(writer.view.messages()) == [
        "Be good.",
        "task",
        "So.",
        "[noted]",
        "follow-up",
    ]


def test_only_the_systems_words_are_shown() -> None:
    writer = Writer()
    writer.add(Message(text="from a person"), Source.USER)
    writer.add(Message(text="from the agent"), Source.AGENT)
    writer.add(Think(thought="hm", call_id="x"), Source.AGENT)
    writer.add(StateChanged(state=AgentState.RUNNING), Source.SYSTEM)
    writer.add(Unknown(kind="from_the_future"), Source.SYSTEM)
    assert len(writer.view.messages()) == 1


def test_call_ids_may_come_again_in_a_later_reply() -> None:
    writer = Writer()
    for number in range(3):
        writer.reply("call_1", seen_id=writer.say(f"go on {number}"))
        writer.result("call_1")
    shown = texts(writer.view.messages())
    assert shown.count("[noted]") == shown.count("So.") == 3


STEPS = st.lists(st.sampled_from(["message", "person", "noise", "call"]), max_size=40)


@given(steps=STEPS, data=st.data())
def test_each_request_begins_with_the_one_before(
    steps: list[str], data: st.DataObject
) -> None:
    writer = Writer()
    requests: list[tuple[ChatMessage, ...]] = []
    for step in steps:
        match step:
            case "message":
                writer.say("said")
            case "person":
                writer.add(Message(text="not judged"), Source.USER)
            case "noise":
                writer.add(StateChanged(state=AgentState.RUNNING), Source.SYSTEM)
            case _:
                requests.append(writer.view.messages())
                _answer(writer, data)
    requests.append(writer.view.messages())
    for earlier, later in pairwise(requests):
        assert later[: len(earlier)] == earlier
    assert texts(requests[-1]).count("said") == writer.said
    assert "[it is not known what came of it]" not in texts(requests[-1])


def _answer(writer: Writer, data: st.DataObject) -> None:
    """Reply with some calls and give each its result, while people talk."""
    asked_at = writer.view.last_id
    moments = st.booleans()
    if data.draw(moments):
        writer.say("said")
    call_ids = [f"c{number}" for number in range(data.draw(st.integers(0, 3)))]
    writer.reply(*call_ids, seen_id=asked_at)
    for call_id in call_ids:
        if data.draw(moments):
            writer.say("said")
        writer.result(call_id)
