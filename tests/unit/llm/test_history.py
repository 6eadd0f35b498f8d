"""Calls that a provider would lose are joined with their twins."""

from patchwright.core.events.payload import ToolCall
from patchwright.core.llm.model import AssistantTurn, ChatMessage, ToolResult, UserText
from patchwright.core.llm.wire import without_duplicate_calls


def call(call_id: str, arguments: str) -> ToolCall:
    return ToolCall(id=call_id, name="shell", arguments=arguments)


LS, SAME, OTHER = call("a", '{"c":"ls"}'), call("b", '{"c": "ls"}'), call("c", "{}")


def test_the_same_call_twice_in_a_reply_is_one_with_both_results() -> None:
    turn = AssistantTurn(text="x", tool_calls=(LS, OTHER, SAME))
    results = [ToolResult(call_id=call_id, text=call_id) for call_id in "acb"]
    assert without_duplicate_calls([UserText(text="u"), turn, *results]) == [
        UserText(text="u"),
        AssistantTurn(text="x", tool_calls=(LS, OTHER)),
        ToolResult(call_id="a", text="a\n\n(And once more:)\nb"),
        ToolResult(call_id="c", text="c"),
    ]


def test_the_same_call_in_another_reply_stays() -> None:
    chat: list[ChatMessage] = [
        AssistantTurn(text="", tool_calls=(LS,)),
        ToolResult(call_id="a", text="1"),
        AssistantTurn(text="", tool_calls=(SAME,)),
        ToolResult(call_id="b", text="2"),
    ]
    assert without_duplicate_calls(chat) == chat
