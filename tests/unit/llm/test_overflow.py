"""How much room there was for a reply is read from what providers say."""

import pytest

from patchwright.core.llm.overflow import read_output_room


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
    assert read_output_room(text) == room
