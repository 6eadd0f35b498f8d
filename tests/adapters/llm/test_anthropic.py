"""Claude gets its cache marks, and its signed thoughts back as they were."""

import pytest
from pydantic import SecretStr

from patchwright.core.events.observations import ModelReply
from patchwright.core.events.payload import ToolCall
from patchwright.core.llm.client import LitellmModel
from patchwright.core.llm.errors import (
    ContextWindowError,
    ModelCredentialError,
    ModelError,
    ModelRequestError,
)
from patchwright.core.llm.model import AssistantTurn, Image, ToolResult, UserText
from patchwright.core.llm.prices import ModelConfig
from tests.adapters.llm.asking import ask, history
from tests.fakes.clock import FakeClock
from tests.fakes.llm.anthropic import FakeAnthropic

THOUGHTS = [
    {"type": "thinking", "thinking": "hmm", "signature": "c2ln"},
    {"type": "redacted_thinking", "data": "eHh4"},
]
USE = {"type": "tool_use", "id": "tu_1", "name": "shell", "input": {"command": "ls"}}
TEXT = {"type": "text", "text": "Done."}


def model_at(
    provider: FakeAnthropic,
    clock: FakeClock | None = None,
    *,
    effort: str | None = None,
) -> LitellmModel:
    config = ModelConfig(
        model="anthropic/claude-sonnet-4-5",
        api_key=SecretStr("sk-test"),
        base_url=provider.base_url,
        reasoning_effort=effort,
    )
    return LitellmModel(config, clock or FakeClock())


def test_s61_thinking_is_sent_back_unchanged() -> None:
    with FakeAnthropic([[*THOUGHTS, USE], [TEXT]]) as provider:
        model = model_at(provider, effort="low")
        reply = ModelReply.model_validate_json(model.complete(ask()).model_dump_json())
        done = model.complete(ask(*history(reply)))
    assert list(reply.reasoning) == THOUGHTS
    assert done.text == "Done."
    assert provider.requests[1]["messages"][1]["content"] == [*THOUGHTS, USE]
    assert all("thinking" in request for request in provider.requests)


def test_s61_after_the_calls_of_another_model_it_is_not_told_to_think() -> None:
    turn = AssistantTurn(
        model="openai/other",
        text="",
        tool_calls=(ToolCall(id="call_1", name="shell", arguments="{}"),),
        reasoning=({"type": "reasoning_content", "value": "hmm"},),
    )
    result = ToolResult(call_id="call_1", text="ok")
    with FakeAnthropic([[*THOUGHTS, TEXT], [TEXT]]) as provider:
        model = model_at(provider, effort="low")
        first = model.complete(ask(turn, result))
        go_on = UserText(text="And now?")
        model.complete(ask(turn, result, *history(first), go_on))
    thinks = ["thinking" in request for request in provider.requests]
    assert thinks == [False, True]
    assert provider.refused == []


def test_several_calls_go_back_with_their_results_in_one_message() -> None:
    again = {**USE, "id": "tu_2"}
    with FakeAnthropic([[TEXT, USE, again], [TEXT]]) as provider:
        model = model_at(provider)
        reply = model.complete(ask())
        model.complete(ask(*history(reply), UserText(text="Go on.")))
    _, turn, results = provider.requests[1]["messages"]
    assert turn["content"] == [TEXT, USE, again]
    kinds = [block["type"] for block in results["content"]]
    assert kinds == ["tool_result", "tool_result", "text"]


def test_images_are_sent_as_their_bytes() -> None:
    image = Image(media_type="image/png", data="QUJD")
    with FakeAnthropic([[TEXT]]) as provider:
        model_at(provider).complete(ask(UserText(text="See.", images=(image,))))
    sent = provider.requests[0]["messages"][0]["content"][2]
    source = {"type": "base64", "media_type": "image/png", "data": "QUJD"}
    assert (sent["type"], sent["source"]) == ("image", source)


def test_the_system_text_and_the_last_message_are_marked() -> None:
    with FakeAnthropic([[USE], [TEXT]]) as provider:
        model = model_at(provider)
        model.complete(ask(*history(model.complete(ask()), result="a.py")))
    request = provider.requests[1]
    mark = {"cache_control": {"type": "ephemeral"}}
    assert request["system"] == [{"type": "text", "text": "You fix bugs.", **mark}]
    first, _, last = request["messages"]
    assert first["content"] == [{"type": "text", "text": "Fix the bug."}]
    (result,) = last["content"]
    assert result["content"] == [{"type": "text", "text": "a.py", **mark}]


def test_reading_and_writing_the_cache_is_counted_and_priced() -> None:
    with FakeAnthropic([[TEXT]]) as provider:
        model = model_at(provider)
        usage = model.complete(ask()).usage
        ceiling = model.ceiling_usd(ask())
    assert (usage.tokens_in, usage.tokens_cached) == (1000, 600)
    assert usage.tokens_cache_written == 300
    assert usage.cost_usd is not None
    assert ceiling is not None
    assert 0.0 < usage.cost_usd < ceiling


@pytest.mark.parametrize(
    ("status", "message", "error"),
    [
        (400, "prompt is too long: 210543 tokens > 200000 maximum", ContextWindowError),
        (413, "Request exceeds the maximum size", ContextWindowError),
        (401, "invalid x-api-key", ModelCredentialError),
        (400, "Your credit balance is too low", ModelCredentialError),
        (404, "model: claude-none", ModelRequestError),
    ],
)
def test_refusals_are_told_apart(
    status: int, message: str, error: type[ModelError]
) -> None:
    with (
        FakeAnthropic([(status, message)]) as provider,
        pytest.raises(error, match=message),
    ):
        model_at(provider).complete(ask())


def test_an_overloaded_provider_is_waited_for() -> None:
    clock = FakeClock()
    with FakeAnthropic([(529, "Overloaded"), [TEXT]]) as provider:
        assert model_at(provider, clock).complete(ask()).text == "Done."
    assert len(clock.slept) == 1
