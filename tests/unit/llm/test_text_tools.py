"""A model without tools is asked in text, and its calls come back as calls."""

import json
from itertools import count, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from patchwright.core.events.observations import ModelReply
from patchwright.core.events.payload import ToolCall
from patchwright.core.llm.errors import ModelRequestError
from patchwright.core.llm.model import (
    AssistantTurn,
    ChatMessage,
    Image,
    ModelCapabilities,
    ModelRequest,
    SystemText,
    ToolResult,
    UserText,
)
from patchwright.core.llm.text_calls import read_text_reply
from patchwright.core.llm.text_form import write_call
from patchwright.core.llm.text_tool_model import TextToolModel, request_in_text
from tests.fakes.scripted_model import ScriptedModel, Step, reply
from tests.unit.llm.text_tools import EDIT, FINISH, READ, SHELL, STATUS, WRITE

TOOLS = (SHELL, READ, WRITE, EDIT, FINISH, STATUS)
LS = '<call tool="shell">\n<arg name="command">ls</arg>\n</call>'
TASK = (SystemText(text="You fix bugs."), UserText(text="Fix it."))


def request(*more: ChatMessage) -> ModelRequest:
    return ModelRequest(messages=(*TASK, *more), tools=TOOLS)


def asked(*steps: Step, always: bool = True, calls_tools: bool = True) -> TextToolModel:
    inner = ScriptedModel(
        steps, capabilities=ModelCapabilities(calls_tools=calls_tools)
    )
    numbers = count(1)
    return TextToolModel(inner, always=always, new_id=lambda: f"id_{next(numbers)}")


def turn_of(answer: ModelReply) -> AssistantTurn:
    return AssistantTurn(text=answer.text, tool_calls=answer.tool_calls)


def test_calls_come_back_with_ids_of_their_own() -> None:
    model = asked(reply(f"I look.\n\n{LS}\n{LS}"))
    answer = model.complete(request())
    assert answer.text == "I look."
    assert answer.stop_reason == "tool_calls"
    assert answer.tool_calls == tuple(
        ToolCall(id=call_id, name="shell", arguments='{"command": "ls"}')
        for call_id in ("id_1", "id_2")
    )


def test_s60_a_broken_call_is_malformed_and_can_be_repeated() -> None:
    model = asked(reply('<call tool="shell">{"command": "l</call>'), reply("I see."))
    answer = model.complete(request())
    assert [call.arguments for call in answer.tool_calls] == ["{}"]
    assert answer.malformed["id_1"].startswith("The arguments were not valid JSON")
    result = ToolResult(call_id="id_1", text="Bad.")
    assert model.complete(request(turn_of(answer), result)).text == "I see."


def test_the_history_is_written_as_the_model_wrote_it() -> None:
    model = asked(reply(f"I look.\n\n{LS}"))
    answer = model.complete(request())
    result = ToolResult(call_id="id_1", text="a.py\nb.py")
    sent = request_in_text(request(turn_of(answer), result, UserText(text="Go on.")))
    assert sent.tools == ()
    assert sent.messages[1:] == (
        UserText(text="Fix it."),
        AssistantTurn(text=f"I look.\n\n{LS}"),
        UserText(
            text='<result tool="shell">\na.py\nb.py\n</result>\n\nGo on.',
        ),
    )


def test_the_tools_are_described_after_the_system_text() -> None:
    system = request_in_text(request()).messages[0]
    assert isinstance(system, SystemText)
    assert system.text.startswith("You fix bugs.\n\n# Tools\n")
    assert system.text.endswith(
        "## edit\n\nTo edit.\n"
        "- `path` (string)\n"
        "- `edits.0` (object)\n"
        "- `edits.0.old` (string)\n"
        "- `edits.0.new` (string)\n"
        "- `edits.0.occurrence` (integer, optional)\n"
        "- `edits.0.how` (string, optional), one of first, all\n\n"
        "## finish\n\nTo finish.\n"
        "- `summary` (string)\n"
        "- `test_commands.0` (string, optional): How to test.\n\n"
        "## status\n\nTo status."
    )


def test_without_a_system_text_the_tools_are_one() -> None:
    sent = request_in_text(
        ModelRequest(messages=(UserText(text="Hi."),), tools=(STATUS,))
    )
    assert isinstance(sent.messages[0], SystemText)
    assert sent.messages[1:] == (UserText(text="Hi."),)


def test_without_tools_nothing_is_read_as_a_call() -> None:
    model = asked(reply(LS))
    answer = model.complete(ModelRequest(messages=TASK))
    assert (answer.text, answer.tool_calls) == (LS, ())


def test_images_stay_with_the_text_they_came_with() -> None:
    image = Image(media_type="image/png", data="QQ==")
    sent = request_in_text(request(UserText(text="See.", images=(image,))))
    assert sent.messages[1:] == (UserText(text="Fix it.\n\nSee.", images=(image,)),)


NAMES = st.sampled_from(TOOLS)
ANY_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\r<"))


@given(
    st.fixed_dictionaries({"path": ANY_TEXT, "content": ANY_TEXT}),
    st.lists(
        st.fixed_dictionaries(
            {"old": ANY_TEXT, "new": ANY_TEXT, "occurrence": st.integers() | st.none()}
        ),
        min_size=1,
    ),
)
def test_what_is_written_is_read_the_same(
    file: dict[str, JsonValue], edits: list[JsonValue]
) -> None:
    edit: dict[str, JsonValue] = {"path": file["path"], "edits": edits}
    text = f"{write_call('write', file)}\n\n{write_call('edit', edit)}"
    found = read_text_reply(text, TOOLS, is_cut_off=False)
    assert found.faults == {}
    assert [json.loads(call.arguments) for call in found.calls] == [
        file,
        edit,
    ]


MESSAGES = st.lists(
    st.one_of(
        st.builds(UserText, text=st.text()),
        st.builds(ToolResult, call_id=st.sampled_from("ab"), text=st.text()),
        st.just(
            AssistantTurn(
                text="x",
                tool_calls=(ToolCall(id="a", name="shell", arguments='{"c": "d"}'),),
            )
        ),
        st.just(AssistantTurn(text="done")),
    )
)


@given(MESSAGES)
def test_roles_alternate_in_any_history(history: list[ChatMessage]) -> None:
    sent = request_in_text(request(*history)).messages
    users = [isinstance(message, UserText) for message in sent[1:]]
    assert not any(this and that for this, that in pairwise(users))
    assert not any(isinstance(message, ToolResult) for message in sent)


@given(MESSAGES)
def test_a_longer_request_begins_with_the_shorter_one(
    history: list[ChatMessage],
) -> None:
    turn = AssistantTurn(text="I see.")
    before = request_in_text(request(*history)).messages
    after = request_in_text(request(*history, turn, UserText(text="more"))).messages
    assert after[: len(before)] == before


@pytest.mark.parametrize(
    "message",
    [
        "registry.ollama.ai/library/x does not support tools",
        "No endpoints found that support tool use",
        '"auto" tool choice requires --enable-auto-tool-choice to be set',
    ],
)
def test_a_model_that_turns_out_to_know_no_tools_is_asked_in_text(message: str) -> None:
    model = asked(ModelRequestError(message), reply(LS), reply(LS), always=False)
    assert model.complete(request()).tool_calls[0].name == "shell"
    assert model.complete(request()).tool_calls[0].id == "id_2"


def test_another_refusal_is_passed_on() -> None:
    model = asked(ModelRequestError("No such model."), always=False)
    with pytest.raises(ModelRequestError):
        model.complete(request())


def test_a_model_that_is_known_to_call_tools_is_asked_as_it_is() -> None:
    inner = ScriptedModel([reply(calls=[("status", {})])])
    answer = TextToolModel(inner, always=False).complete(request())
    assert inner.requests == [request()]
    assert answer.tool_calls[0].name == "status"


def test_a_model_that_is_known_not_to_is_asked_in_text_at_once() -> None:
    model = asked(reply(LS), always=False, calls_tools=False)
    assert model.complete(request()).tool_calls[0].name == "shell"


def test_ids_are_never_the_same() -> None:
    model = TextToolModel(ScriptedModel([reply(LS), reply(LS)]), always=True)
    first, second = (model.complete(request()).tool_calls[0].id for _ in range(2))
    assert first != second
