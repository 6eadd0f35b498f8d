"""How much room there was for a reply is read from what providers say."""

from time import process_time

import pytest

from patchwright.core.llm.failures import (
    Fault,
    ProviderRefusal,
    classify_refusal,
    read_output_budget,
    read_output_limit,
)
from tests.fakes.clock import START


@pytest.mark.parametrize(
    ("text", "room"),
    [
        (
            (
                "input length and `max_tokens` exceed context limit: 196973 + 8192 > "
                "204648, decrease input length or `max_tokens` and try again"
            ),
            7675,
        ),
        (
            (
                "This model's maximum context length is 8192 tokens. However, you "
                "requested 9000 tokens (5000 in the messages, 4000 in the completion). "
                "Please reduce the length of the messages or completion."
            ),
            3192,
        ),
        (
            (
                "This model's maximum context length is 8192 tokens. However, you "
                "requested 9000 tokens (5000 in the messages, 1000 in the functions, "
                "and 3000 in the completion)."
            ),
            2192,
        ),
        (
            (
                "'max_tokens' or 'max_completion_tokens' is too large: 8192. This "
                "model's maximum context length is 32768 tokens and your request has "
                "30000 input tokens (8192 > 32768 - 30000)."
            ),
            2768,
        ),
        ("exceed context limit: 204000 + 8192 > 204648", None),
        ("prompt is too long: 210543 tokens > 200000 maximum", None),
    ],
)
def test_s63_the_room_is_the_window_without_the_prompt(
    text: str, room: int | None
) -> None:
    assert read_output_budget(text) == room


@pytest.mark.parametrize(
    ("text", "room"),
    [
        pytest.param(
            "This endpoint's maximum context length is 131072 tokens. However, you "
            "requested about 133112 tokens (5543 of text input, 127569 in the output). "
            "Please reduce the length of either one, or use the context-compression "
            "plugin to compress your prompt automatically.",
            125_529,
            id="OpenRouter",
        ),
        pytest.param(
            "This endpoint's maximum context length is 131072 tokens. However, you "
            "requested about 133112 tokens (5543 of text input, 2000 of tool input, "
            "125569 in the output). Please reduce the length of either one.",
            123_529,
            id="OpenRouter with tools",
        ),
        pytest.param(
            "This model's maximum context length is 4096 tokens. However, you "
            "requested 2000 output tokens and your prompt contains at least "
            "2585 input tokens, "
            "for a total of at least 4585 tokens. Please reduce the length of the "
            "input prompt or the number of requested output tokens.",
            1511,
            id="vLLM",
        ),
        pytest.param(
            "This model's maximum context length is 4097 tokens, however you requested "
            "5000 tokens (3000 in your prompt; 2000 for the completion). Please reduce "
            "your prompt; or completion length.",
            1097,
            id="Azure",
        ),
        pytest.param(
            "litellm.ContextWindowExceededError: litellm.BadRequestError: "
            "ContextWindowExceededError: OpenAIException - This model's maximum "
            "context length is 65,536 tokens. However, you requested 70,000 "
            "tokens (60,000 in "
            "the messages, 10,000 in the completion).",
            5536,
            id="LiteLLM's proxy",
        ),
        pytest.param(
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= "
            "8193. Given: 6000 `inputs` tokens and 4096 `max_new_tokens`",
            2193,
            id="Together",
        ),
        pytest.param(
            "Requested token count exceeds the model's maximum context length of "
            "32768 tokens. You requested a total of 38192 tokens: 30000 tokens "
            "from the "
            "input messages and 8192 tokens for the completion.",
            2768,
            id="SGLang",
        ),
        pytest.param(
            "The model returned the following errors: input length and `max_tokens` "
            "exceed context limit: 196973 + 8192 > 204648, decrease input length",
            7675,
            id="Bedrock",
        ),
        pytest.param(
            "Prompt contains 30000 tokens and max_tokens is 8192, too large for model "
            "with maximum context length 32768",
            2768,
            id="Mistral",
        ),
        pytest.param(
            "Prompt contains 40000 tokens and 0 draft tokens, too large for model with "
            "32768 maximum context length",
            None,
            id="Mistral, the prompt alone",
        ),
        pytest.param(
            "The input token count (1200000) exceeds the maximum number of tokens "
            "allowed (1048576).",
            None,
            id="Gemini, the prompt alone",
        ),
        pytest.param(
            "This model's maximum prompt length is 131072 but the request contains "
            "140000 tokens.",
            None,
            id="xAI, the prompt alone",
        ),
        pytest.param(
            "Please reduce the length of the messages or completion.",
            None,
            id="Groq, without a number",
        ),
        pytest.param(
            "This endpoint's maximum context length is 8192 tokens. However, you "
            "requested about 16384 tokens (8100 of text input, 8284 in the output).",
            None,
            id="too little room",
        ),
    ],
)
def test_the_room_is_read_in_the_words_of_many_gateways(
    text: str, room: int | None
) -> None:
    assert read_output_budget(text) == room
    assert read_output_limit(text) is None
    if room is not None:
        failure = classify_refusal(ProviderRefusal(status=400, text=text), START)
        assert (failure.fault, failure.output_budget) == (Fault.CONTEXT, room)


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        (
            (
                "max_tokens is too large: 8192. This model supports at most 4096 "
                "completion tokens, whereas you provided 8192."
            ),
            4096,
        ),
        (
            (
                "max_tokens: 8192 > 4096, which is the maximum allowed number "
                "of output "
                "tokens for claude-3-haiku-20240307"
            ),
            4096,
        ),
        (
            (
                "The maximum tokens you requested exceeds the model limit of 4096. Try "
                "again with a maximum tokens value that is lower than 4096."
            ),
            4096,
        ),
        (
            (
                "Unable to submit request because it has a maxOutputTokens "
                "value of 99999 "
                "but the supported range is from 1 (inclusive) to 8193 (exclusive)."
            ),
            8192,
        ),
        ("maxOutputTokens must be in the range [1, 8193).", 8192),
        (
            (
                "`max_tokens` must be less than or equal to `8192`, the maximum "
                "value for "
                "`max_tokens` is less than the `context_window` for this model"
            ),
            8192,
        ),
        ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 8192),
        ("Range of max_tokens should be [1, 8192]", 8192),
        ("invalid request: max tokens must be less than or equal to 4000", None),
        ("max_tokens must be less than or equal to 0", None),
        ("bad", None),
    ],
)
def test_the_longest_reply_of_a_model_is_read(text: str, limit: int | None) -> None:
    assert read_output_limit(text) == limit
    failure = classify_refusal(ProviderRefusal(status=400, text=text), START)
    assert failure.output_limit == limit


@pytest.mark.parametrize("piece", ["0", "1,", "maximum context length is 1 ", "1 in "])
def test_a_long_refusal_is_read_in_time(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    begun = process_time()
    read_output_budget(text)
    read_output_limit(text)
    assert process_time() - begun < 2.0
