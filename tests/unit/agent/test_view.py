"""What the model sees only ever grows at its end, and is always a valid chat."""

import json
from itertools import groupby, pairwise

from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.agent.view import IMAGE_BYTES
from patchwright.core.events.actions import Message, Think
from patchwright.core.events.observations import (
    CommandOutput,
    Condensed,
    ModelReply,
    StateChanged,
)
from patchwright.core.events.payload import AgentState, Source, ToolCall
from patchwright.core.events.types import Unknown
from patchwright.core.llm.model import (
    AssistantTurn,
    ChatMessage,
    Image,
    SystemText,
    ToolResult,
    UserText,
)
from patchwright.core.llm.wire import wire_messages
from patchwright.core.types.work import Usage
from tests.unit.agent.writer import Writer, texts


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
        ToolResult(call_id="a", text="[the result is unknown]"),
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


def test_a_condensation_replaces_turns_by_their_summary() -> None:
    writer = Writer()
    writer.say("task")
    first_id = writer.reply("a")
    writer.result("a")
    last_id = writer.reply("b")
    writer.result("b")
    writer.reply("c")
    writer.result("c")
    before = writer.view.size_bytes
    writer.add(
        Condensed(first_id=first_id, last_id=last_id, summary="Twice."), Source.SYSTEM
    )
    assert texts(writer.view.messages()) == [
        "Be good.",
        "task",
        "Twice.",
        "So.",
        "[noted]",
    ]
    assert writer.view.size_bytes < before


def test_what_people_say_and_the_task_are_never_condensed() -> None:
    writer = Writer()
    writer.say("task")
    said_id = writer.add(Message(text="in French"), Source.SYSTEM, 1)
    writer.reply("a", seen_id=said_id)
    writer.result("a")
    writer.add(Condensed(first_id=1, last_id=99, summary="All."), Source.SYSTEM)
    assert texts(writer.view.messages()) == ["Be good.", "task", "in French", "All."]


def test_of_masked_results_a_line_is_left() -> None:
    writer = Writer()
    writer.say("task")
    reply_ids: list[int] = []
    for call_id in ("a", "b"):
        reply_ids.append(writer.reply(call_id))
        output = CommandOutput(exit_code=0, output="x" * 999, call_id=call_id)
        writer.add(output, Source.ENVIRONMENT)
    writer.add(Condensed(masked_to=reply_ids[0]), Source.SYSTEM)
    results = [m for m in writer.view.messages() if isinstance(m, ToolResult)]
    assert [len(result.text) > 900 for result in results] == [False, True]
    assert writer.view.size_bytes < 1_200


def test_what_the_provider_counted_shrinks_with_the_chat() -> None:
    writer = Writer()
    writer.say("task")
    counted = Usage(cost_usd=0.0, tokens_in=900, tokens_out=100)
    reply = ModelReply(text="x" * 990, usage=counted)
    reply_id = writer.add(reply, Source.AGENT)
    assert (writer.view.tokens_counted, writer.view.bytes_since) == (1_000, 0)
    writer.say("go on")
    assert (writer.view.tokens_counted, writer.view.bytes_since) == (1_000, 5)
    writer.add(
        Condensed(first_id=reply_id, last_id=reply_id, summary="x" * 491), Source.SYSTEM
    )
    assert (writer.view.tokens_counted, writer.view.bytes_since) == (501, 0)


def test_a_delegate_and_its_parent_see_nothing_of_each_other() -> None:
    parent, delegate = Writer(), Writer("7")
    for writer in (parent, delegate):
        writer.add(Message(text="task"), Source.SYSTEM)
        writer.add(Message(text="part", agent="7"), Source.SYSTEM, 7)
        writer.add(ModelReply(text="Mine.", agent="7"), Source.AGENT, 8)
        writer.add(
            Condensed(first_id=1, last_id=9, summary="s", agent="7"), Source.SYSTEM
        )
        writer.add(Message(text="other", agent="8"), Source.SYSTEM, 8)
    assert texts(parent.view.messages()) == ["Be good.", "task"]
    assert texts(delegate.view.messages()) == ["Be good.", "part", "s"]


STEPS = st.lists(
    st.sampled_from(["message", "person", "noise", "call", "delegate", "condense"]),
    max_size=40,
)


@given(steps=STEPS, data=st.data())
def test_between_condensations_each_request_begins_with_the_one_before(
    steps: list[str], data: st.DataObject
) -> None:
    writer = Writer()
    requests: list[tuple[int, tuple[ChatMessage, ...]]] = []
    condensed = 0
    for step in steps:
        match step:
            case "condense":
                condensed += 1
                _condense(writer, data)
            case "delegate":
                writer.add(ModelReply(text="Mine.", agent="9"), Source.AGENT)
            case "message":
                writer.say("said")
            case "person":
                writer.add(Message(text="not judged"), Source.USER)
            case "noise":
                writer.add(StateChanged(state=AgentState.RUNNING), Source.SYSTEM)
            case _:
                requests.append((condensed, writer.view.messages()))
                _answer(writer, data)
    requests.append((condensed, writer.view.messages()))
    for _, group in groupby(requests, key=lambda request: request[0]):
        for earlier, later in pairwise(_wired(messages) for _, messages in group):
            assert later[: len(earlier)] == earlier
    last = texts(requests[-1][1])
    assert condensed or last.count("said") == writer.said
    assert "[the result is unknown]" not in last


def _wired(messages: tuple[ChatMessage, ...]) -> list[bytes]:
    wired = wire_messages(messages, "openai/gpt", cache_marks=False)
    return [json.dumps(message).encode() for message in wired]


def _condense(writer: Writer, data: st.DataObject) -> None:
    """Leave out any range of turns, as a condenser might."""
    turns = writer.view.history(facts="", goal_bytes=0).turns
    if not turns:
        return
    ids = sorted(
        data.draw(st.lists(st.sampled_from(turns), min_size=2, max_size=2)),
        key=lambda turn: turn.id,
    )
    condensed = Condensed(
        first_id=ids[0].id,
        last_id=ids[1].id,
        summary=data.draw(st.sampled_from(["", "So far."])),
        masked_to=data.draw(st.sampled_from([0, ids[1].id])),
    )
    writer.add(condensed, Source.SYSTEM)


def _answer(writer: Writer, data: st.DataObject) -> None:
    """Reply with some calls and give each its result, while people talk."""
    asked_at = writer.last_id
    moments = st.booleans()
    if data.draw(moments):
        writer.say("said")
    call_ids = [f"c{number}" for number in range(data.draw(st.integers(0, 3)))]
    writer.reply(*call_ids, seen_id=asked_at)
    for call_id in call_ids:
        if data.draw(moments):
            writer.say("said")
        writer.result(call_id)


def test_c4_images_come_with_the_task_alone_and_stay_when_the_rest_is_condensed() -> (
    None
):
    image = Image(media_type="image/png", data="iVBO", name="image-1.png")
    writer = Writer(images=(image,))
    writer.say("Fix it, see image-1.png.")
    assert writer.view.size_bytes > IMAGE_BYTES
    writer.reply("a")
    later = writer.say("And this.")
    writer.reply("b")
    shown = [m for m in writer.view.messages() if isinstance(m, UserText)]
    assert [message.images for message in shown] == [(image,), ()]
    writer.add(Condensed(first_id=1, last_id=later, summary="Looked."), Source.SYSTEM)
    task = writer.view.messages()[1]
    assert task == UserText(text="Fix it, see image-1.png.", images=(image,))
