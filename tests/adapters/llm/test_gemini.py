"""Gemini is asked in its own form, and gets its signatures back."""

import pytest
from pydantic import SecretStr

from patchwright.core.events.observations import ModelReply
from patchwright.core.events.payload import Source
from patchwright.core.events.types import Event
from patchwright.core.llm.client import LitellmModel
from patchwright.core.llm.errors import (
    ContextWindowError,
    ModelCredentialError,
    ModelDeclinedError,
    ModelError,
    ModelRequestError,
)
from patchwright.core.llm.model import Image, ModelCapabilities, UserText
from patchwright.core.llm.prices import ModelConfig
from tests.adapters.llm.asking import ask, history
from tests.fakes.clock import START, FakeClock
from tests.fakes.llm.gemini import FakeGemini, Part, blocked, error, finished
from tests.fakes.llm.server import Answer
from tests.unit.llm.text_tools import EDIT, FINISH, READ

MODELS = ("gemini/gemini-2.5-pro", "gemini/gemini-3-flash-preview")
LS: Part = {"functionCall": {"name": "shell", "args": {"command": "ls"}}}
STATUS: Part = {"functionCall": {"name": "status", "args": {}}}
SIGNED: Part = {**LS, "thoughtSignature": "c2lnbmVkIGNhbGw="}
TEXT: Part = {"text": "Done."}


def model_at(
    provider: FakeGemini, clock: FakeClock | None = None, *, name: str = MODELS[1]
) -> LitellmModel:
    config = ModelConfig(
        model=name,
        api_key=SecretStr("sk-test"),
        base_url=provider.base_url,
        reasoning_effort="low",
    )
    return LitellmModel(config, clock or FakeClock(), jitter=lambda: 1.0)


def in_log(reply: ModelReply) -> ModelReply:
    """Return the reply as it is after a crash: read from the event's JSON."""
    event = Event(id=1, at=START, source=Source.AGENT, payload=reply)
    payload = Event.model_validate_json(event.model_dump_json()).payload
    assert isinstance(payload, ModelReply)
    return payload


def test_several_calls_arrive_and_go_back_with_their_results() -> None:
    with FakeGemini([[{"text": "I look."}, LS, STATUS, LS], [TEXT]]) as provider:
        model = model_at(provider, name=MODELS[0])
        reply = model.complete(ask())
        done = model.complete(ask(*history(reply, result="a.py")))
    assert (reply.text, reply.stop_reason) == ("I look.", "tool_calls")
    names = [call.name for call in reply.tool_calls]
    assert names == ["shell", "status", "shell"]
    assert len({call.id for call in reply.tool_calls}) == 3
    assert done.text == "Done."
    answers = provider.requests[1]["contents"][2]["parts"]
    results = [part["function_response"] for part in answers]
    assert [result["name"] for result in results] == ["shell", "status"]
    # What was called twice in one reply is sent as one: see `without_duplicate_calls`.
    both = "a.py\n\n(And once more:)\na.py"
    assert results[0]["response"] == {"content": both}


def test_s61_signatures_go_back_where_they_came_from() -> None:
    thought: Part = {"text": "hmm", "thought": True}
    said: Part = {"text": "I look.", "thoughtSignature": "c2lnbmVkIHRleHQ="}
    with FakeGemini([[thought, said, SIGNED, STATUS], [TEXT]]) as provider:
        model = model_at(provider)
        reply = in_log(model.complete(ask()))
        assert model.complete(ask(*history(reply))).text == "Done."
    text, first, second = provider.requests[1]["contents"][1]["parts"]
    assert text == said
    assert first["thoughtSignature"] == SIGNED["thoughtSignature"]
    assert "thoughtSignature" not in second


def test_s61_a_signature_is_no_part_of_an_id() -> None:
    with FakeGemini([[SIGNED]]) as provider:
        (call,) = model_at(provider).complete(ask()).tool_calls
    assert len(call.id) <= 40


def test_the_schemas_of_real_tools_are_taken() -> None:
    request = ask().replace(tools=(EDIT, FINISH, READ))
    with FakeGemini([[TEXT]]) as provider:
        assert model_at(provider).complete(request).text == "Done."


def test_images_are_sent_in_line() -> None:
    image = Image(media_type="image/png", data="QUJD")
    with FakeGemini([[TEXT]]) as provider:
        model_at(provider).complete(ask(UserText(text="See.", images=(image,))))
    (words,) = provider.requests[0]["contents"]
    assert words["parts"] == [
        {"text": "Fix the bug."},
        {"text": "See."},
        {"inline_data": {"data": "QUJD", "mime_type": "image/png"}},
    ]


def test_cached_and_thought_tokens_are_counted_and_priced() -> None:
    with FakeGemini([[TEXT]]) as provider:
        model = model_at(provider)
        usage = model.complete(ask()).usage
        ceiling = model.ceiling_usd(ask())
    counted = (usage.tokens_in, usage.tokens_out, usage.tokens_cached)
    assert counted == (1000, 50, 600)
    assert usage.cost_usd is not None
    assert ceiling is not None
    assert 0.0 < usage.cost_usd < ceiling


def test_the_table_knows_what_it_can_take() -> None:
    with FakeGemini([]) as provider:
        assert model_at(provider).capabilities() == ModelCapabilities(
            context_window=1_048_576, max_output_tokens=16_384, sees_images=True
        )


@pytest.mark.parametrize(
    ("status", "message", "raised"),
    [
        (
            400,
            (
                "The input token count (1200000) exceeds the maximum number of tokens "
                "allowed (1048576)."
            ),
            ContextWindowError,
        ),
        (400, "API key not valid. Please pass a valid API key.", ModelCredentialError),
        (403, "Permission denied on resource project", ModelCredentialError),
        (404, "models/gemini-none is not found", ModelRequestError),
        (400, "Invalid value at 'contents'", ModelRequestError),
    ],
)
def test_refusals_are_told_apart(
    status: int, message: str, raised: type[ModelError]
) -> None:
    with FakeGemini([error(status, message)]) as provider:
        with pytest.raises(raised) as caught:
            model_at(provider).complete(ask())
        assert len(provider.requests) == 1
    assert message.rstrip(".") in str(caught.value)


def test_s58_a_quota_per_minute_is_waited_for_as_long_as_it_says() -> None:
    clock = FakeClock()
    quota = error(
        429,
        "You exceeded your current quota, please check your plan and billing details.",
        "RESOURCE_EXHAUSTED",
        "26s",
    )
    with FakeGemini([quota, [TEXT]]) as provider:
        assert model_at(provider, clock).complete(ask()).text == "Done."
    assert clock.slept == [27.0]


def test_an_overloaded_provider_is_waited_for() -> None:
    clock = FakeClock()
    overloaded = error(503, "The model is overloaded.", "UNAVAILABLE")
    with FakeGemini([overloaded, [TEXT]]) as provider:
        assert model_at(provider, clock).complete(ask()).text == "Done."
    assert len(clock.slept) == 1


@pytest.mark.parametrize("answer", [blocked("SAFETY"), finished("SAFETY")])
def test_a_blocked_answer_is_declined(answer: Answer) -> None:
    with (
        FakeGemini([answer]) as provider,
        pytest.raises(ModelDeclinedError),
    ):
        model_at(provider).complete(ask())


def test_thinking_that_used_up_the_output_is_asked_again() -> None:
    with FakeGemini([finished("MAX_TOKENS"), [TEXT]]) as provider:
        reply = model_at(provider).complete(ask())
    assert reply.text == "Done."
    assert reply.usage.tokens_in == 2000
