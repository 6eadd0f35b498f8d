"""The fake provider refuses what a real one refuses."""

import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from tests.fakes.llm.provider import FakeProvider

USER = {"role": "user", "content": "hi"}
FUNCTION = {"name": "shell", "arguments": "{}"}
CALL = {"id": "a", "type": "function", "function": FUNCTION}
CALLING = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "a", "content": "ok"}


def post(
    provider: FakeProvider, request: dict[str, Any], key: str = "sk-test"
) -> tuple[int, str]:
    """Return the status, and the text or the refusal."""
    sent = urllib.request.Request(
        f"{provider.base_url}/chat/completions",
        data=json.dumps(request).encode(),
        headers={"Authorization": f"Bearer {key}"},
    )
    try:
        with urllib.request.urlopen(sent) as answer:
            body = json.load(answer)
            return answer.status, body["choices"][0]["message"]["content"]
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)["error"]["message"]


def refusal_of(*messages: dict[str, Any], **fields: Any) -> str:
    with FakeProvider(["ok"]) as provider:
        status, text = post(provider, {"model": "m", "messages": messages, **fields})
        assert status == 400
        assert provider.requests == []
        assert provider.refused == [text]
    return text


def test_a_good_request_is_answered() -> None:
    with FakeProvider(["ok"]) as provider:
        request = {"model": "m", "messages": [USER, CALLING, RESULT]}
        assert post(provider, request) == (200, "ok")
        assert provider.requests == [request]


def test_a_wrong_key_and_an_unknown_model_are_refused() -> None:
    with FakeProvider(["ok"], models=frozenset({"m"})) as provider:
        request = {"model": "n", "messages": [USER]}
        assert post(provider, request, key="sk-wrong")[0] == 401
        assert post(provider, request)[0] == 404


def test_the_end_of_the_script_is_told() -> None:
    with FakeProvider([]) as provider:
        status, text = post(provider, {"model": "m", "messages": [USER]})
    assert (status, "run out" in text) == (400, True)


@pytest.mark.parametrize(
    "messages",
    [
        [USER, CALLING],
        [USER, CALLING, USER],
        [USER, RESULT],
        [USER, CALLING, RESULT, RESULT],
        [USER, {**CALLING, "tool_calls": [CALL, CALL]}, RESULT, RESULT],
    ],
)
def test_calls_and_results_belong_together(messages: list[dict[str, Any]]) -> None:
    assert "tool" in refusal_of(*messages)


@pytest.mark.parametrize("arguments", ["", '{"a', None, "[]"])
def test_arguments_are_json_objects(arguments: str | None) -> None:
    function = {"name": "shell", "arguments": arguments}
    calling = {**CALLING, "tool_calls": [{"id": "a", "function": function}]}
    assert "arguments" in refusal_of(USER, calling, RESULT)


@pytest.mark.parametrize(
    "message",
    [
        {"role": "robot", "content": "hi"},
        {"role": "user", "content": None},
        {"role": "assistant", "content": None},
        {"role": "user", "content": "\ud83d"},
        {"role": "user", "content": "hi", "cache_control": {}},
        {"role": "tool", "content": "hi"},
    ],
)
def test_messages_have_their_form(message: dict[str, Any]) -> None:
    assert refusal_of(message)


@pytest.mark.parametrize(
    "fields",
    [
        {"max_tokens": 0},
        {"max_completion_tokens": "9"},
        {"tools": []},
        {"tools": [{"function": {"name": "a b", "parameters": {"type": "object"}}}]},
        {"tools": [{"function": {"name": "a", "parameters": {}}}]},
        {"stream": True},
    ],
)
def test_limits_and_tools_have_their_form(fields: dict[str, Any]) -> None:
    assert refusal_of(USER, **fields)
