"""Read from a provider's words how much it had left for the reply."""

import re
from collections.abc import Callable

from patchwright.core.llm.room import LEAST_OUTPUT

# As Anthropic, OpenAI with older vLLM, and newer vLLM put it.
_SHAPES: tuple[tuple[re.Pattern[str], Callable[..., int]], ...] = (
    (
        re.compile(r"exceed context limit: (\d+) \+ \d+ > (\d+)"),
        lambda prompt, window: window - prompt,
    ),
    (
        re.compile(
            r"context length is (\d+) tokens.{1,80}?requested \d+ tokens "
            r"\((\d+) in the messages, (?:(\d+) in the functions, (?:and )?)?",
            re.DOTALL,
        ),
        lambda window, prompt, functions: window - prompt - functions,
    ),
    (
        re.compile(r"\(\d+ > (\d+) - (\d+)\)"),
        lambda window, prompt: window - prompt,
    ),
)


def read_output_room(text: str) -> int | None:
    """Return for how many tokens there was room; None if for too few, or not said."""
    for shape, room in _SHAPES:
        if found := shape.search(text):
            left = room(*(int(number or 0) for number in found.groups()))
            return left if left >= LEAST_OUTPUT else None
    return None
