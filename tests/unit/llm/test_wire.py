"""Requests are written so that no provider refuses their history."""

import json

from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.events.payload import ToolCall
from patchwright.core.llm.model import (
    AssistantTurn,
    ChatMessage,
    SystemText,
    ToolResult,
    UserText,
)
from patchwright.core.llm.wire import (
    MISSING_RESULT,
    ORPHAN_RESULT,
    Wire,
    wants_cache_marks,
    wire_messages,
    with_all_results,
)
from tests.fakes.llm.rules import find_fault


def calling(*ids: str, text: str = "") -> AssistantTurn:
    calls = tuple(ToolCall(id=id_, name="shell", arguments="{}") for id_ in ids)
    return AssistantTurn(text=text, tool_calls=calls)


def result(call_id: str, text: str = "ok") -> ToolResult:
    return ToolResult(call_id=call_id, text=text)


def wired(*messages: ChatMessage, cache_marks: bool = False) -> list[Wire]:
    return wire_messages(messages, "openai/x", cache_marks=cache_marks)


IDS = st.sampled_from(["a", "b", "c"])
HISTORIES = st.lists(
    st.one_of(
        st.builds(UserText, text=st.text(st.characters(exclude_categories=()))),
        st.builds(result, IDS),
        st.lists(IDS, unique=True).map(lambda ids: calling(*ids)),
    ),
    min_size=1,
)


@given(HISTORIES)
def test_a_strict_provider_takes_any_history(history: list[ChatMessage]) -> None:
    request = {"model": "x", "messages": wired(*history)}
    assert find_fault(request, frozenset()) is None


def test_a_valid_history_stays_as_it_is() -> None:
    history: list[ChatMessage] = [
        SystemText(text="s"),
        UserText(text="u"),
        calling("a", "b"),
        result("a"),
        result("b"),
        AssistantTurn(text="done"),
    ]
    assert with_all_results(history) == history


def test_a_call_without_a_result_gets_one_that_says_so() -> None:
    assert with_all_results([calling("a", "b"), result("b")]) == [
        calling("a", "b"),
        result("a", MISSING_RESULT),
        result("b"),
    ]


def test_a_result_without_its_call_becomes_the_users_text() -> None:
    orphan = UserText(text=ORPHAN_RESULT + "ok")
    assert with_all_results([result("a"), calling("b"), result("b"), result("b")]) == [
        orphan,
        calling("b"),
        result("b"),
        orphan,
    ]


def test_an_assistant_that_only_calls_has_no_content() -> None:
    assert wired(calling("a"), result("a", text=""))[0]["content"] is None


def test_empty_texts_are_filled_because_providers_refuse_them() -> None:
    messages = wired(UserText(text=""), calling("a"), result("a", text=""))
    assert [message["content"] for message in messages] == ["(empty)", None, "(empty)"]


def test_lone_surrogates_are_replaced() -> None:
    assert wired(UserText(text="a\ud83d"))[0]["content"] == "a\ufffd"


def test_s61_reasoning_goes_back_under_its_own_keys() -> None:
    thinking: Wire = {"type": "thinking", "thinking": "hmm", "signature": "s"}
    plain: Wire = {"type": "reasoning_content", "value": "hmm"}
    turn = AssistantTurn(text="x", reasoning=(thinking, plain))
    assert wired(turn) == [
        {
            "role": "assistant",
            "content": "x",
            "thinking_blocks": [thinking],
            "reasoning_content": "hmm",
        }
    ]


def test_s61_reasoning_of_another_model_is_left_out_whole() -> None:
    plain: Wire = {"type": "reasoning_content", "value": "hmm"}
    turn = AssistantTurn(model="openai/other", text="x", reasoning=(plain,))
    assert wired(turn) == [{"role": "assistant", "content": "x"}]


def test_marks_are_on_the_system_text_and_on_the_last_message() -> None:
    messages = wired(
        SystemText(text="s"), UserText(text="u"), UserText(text="v"), cache_marks=True
    )
    marked = ["cache_control" in json.dumps(message) for message in messages]
    assert marked == [True, False, True]


@given(HISTORIES, st.booleans())
def test_a_longer_request_begins_with_the_shorter_one(
    history: list[ChatMessage],
    cache_marks: bool,  # noqa: FBT001 - drawn by Hypothesis
) -> None:
    complete = with_all_results([SystemText(text="s"), *history])
    longer = [*complete, UserText(text="more")]
    before = wired(*complete, cache_marks=cache_marks)
    after = wired(*longer, cache_marks=cache_marks)
    assert _unmarked(after[: len(before)]) == _unmarked(before)


def _unmarked(messages: list[Wire]) -> str:
    mark = ', "cache_control": {"type": "ephemeral"}'
    return json.dumps(messages).replace(mark, "")


def test_only_claude_wants_marks() -> None:
    names = (
        "anthropic/claude-x",
        "claude-x",
        "openrouter/anthropic/claude-x",
        "openai/claude-x",
        "openai/gpt-x",
        "gemini/x",
    )
    marked = [wants_cache_marks(name) for name in names]
    assert marked == [True, True, True, False, False, False]
