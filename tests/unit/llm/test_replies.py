"""Replies are read whatever they leave out."""

import math

import pytest
from pydantic import JsonValue

from patchwright.core.llm.model import ModelRequest
from patchwright.core.llm.replies import Reply, ReportedUsage, read_reply

REQUEST = ModelRequest(messages=())


def read_message(**message: JsonValue) -> Reply:
    return read_reply({"choices": [{"message": message}]}, REQUEST)


def test_text_reason_and_usage_are_read() -> None:
    reply = read_reply(
        {
            "choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}],
            "usage": {
                "prompt_tokens": 9,
                "completion_tokens": 2,
                "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 3},
                "cost": 0.5,
            },
        },
        REQUEST,
    )
    assert (reply.text, reply.stop_reason) == ("hi", "stop")
    assert reply.reported == ReportedUsage(
        cost_usd=0.5,
        tokens_in=9,
        tokens_out=2,
        tokens_cached=4,
        tokens_cache_written=3,
    )


@pytest.mark.parametrize("cost", [-1.0, math.inf, math.nan])
def test_s66_an_impossible_cost_is_not_used(cost: float) -> None:
    assert read_reply({"usage": {"cost": cost}}, REQUEST).reported.cost_usd is None


def test_no_choices_is_an_empty_reply_with_its_usage() -> None:
    reply = read_reply({"choices": [], "usage": {"prompt_tokens": 4241}}, REQUEST)
    assert reply.is_empty
    assert reply.reported.tokens_in == 4241


def test_thinking_alone_is_empty() -> None:
    reply = read_message(content=None, reasoning_content="hmm")
    assert reply.is_empty
    assert not reply.is_declined


def test_a_refusal_declines() -> None:
    assert read_message(content=None, refusal="I will not.").is_declined


def test_signed_thinking_is_preferred_to_its_plain_text() -> None:
    block: JsonValue = {"type": "thinking", "thinking": "hmm", "signature": "s"}
    reply = read_message(thinking_blocks=[block], reasoning_content="hmm")
    assert reply.reasoning == (block,)


def test_lone_surrogates_are_replaced_in_text_and_reasoning() -> None:
    reply = read_message(content="a\ud83d", reasoning_content="b\ud83d")
    assert reply.text == "a\ufffd"
    assert reply.reasoning == ({"type": "reasoning_content", "value": "b\ufffd"},)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "ab"),
        ([{"type": "output_text", "text": "a"}, "b", {"text": "c"}], "abc"),
        ([{"type": "thinking", "thinking": []}, {"type": "text", "text": "a"}], "a"),
        ({"type": "text", "text": "a"}, "a"),
        ([[["a"]]], ""),
        ([None, 7, True], "7"),
        ({"type": "image_url", "text": 3}, ""),
    ],
)
def test_text_in_parts_is_joined(content: JsonValue, text: str) -> None:
    assert read_message(content=content).text == text


@pytest.mark.parametrize("choices", [None, {}, [], [None], [{"message": None}], "x"])
def test_an_answer_without_a_message_is_empty(choices: JsonValue) -> None:
    assert read_reply({"choices": choices}, REQUEST).is_empty


def test_a_call_as_it_was_made_before_there_were_several_is_read() -> None:
    sent: JsonValue = {"name": "shell", "arguments": "{}"}
    [call] = read_message(content=None, function_call=sent).tool_calls
    assert (call.name, call.arguments) == ("shell", "{}")
