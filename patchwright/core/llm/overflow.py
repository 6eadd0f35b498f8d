"""Read from a provider's words how many tokens it had left for the reply."""

import re
from collections.abc import Callable, Iterator

from patchwright.core.llm.room import LEAST_OUTPUT

# Begins at a number's first digit only: a row of digits is read once.
_NUMBER = r"(?<![\d,_])(\d[\d,_]{0,19})"
# Sums that Anthropic and vLLM write out, each with what it leaves for the reply.
_SUMS: tuple[tuple[re.Pattern[str], Callable[..., int]], ...] = (
    (
        re.compile(rf"exceed context limit: {_NUMBER} \+ \d+ > {_NUMBER}"),
        lambda prompt, window: window - prompt,
    ),
    (
        re.compile(rf"\({_NUMBER} > {_NUMBER} - {_NUMBER}\)"),
        lambda _, window, prompt: window - prompt,
    ),
)
# Others name the window, and what the prompt is made of, in words of many kinds.
_WINDOWS = (
    re.compile(
        r"(?:context|sequence)[ _-]?(?:length|limit|window|size)"
        rf"(?: is| of|:| \(|=)* ?{_NUMBER}",
        re.IGNORECASE,
    ),
    re.compile(rf"`?max_new_tokens`? must be <= {_NUMBER}", re.IGNORECASE),
)
_PROMPT_PARTS = (
    re.compile(
        rf"{_NUMBER} (?:tokens )?(?:in|of|from|for) (?:the |your )?"
        r"(?:messages|prompt|functions|tools|(?:\w+ )?input)\b",
        re.IGNORECASE,
    ),
    re.compile(
        rf"{_NUMBER} (?:`?inputs?`?|prompt) tokens|prompt contains {_NUMBER} tokens",
        re.IGNORECASE,
    ),
)
_OUTPUT = re.compile(r"completion|output|max_(?:new_)?tokens|response", re.IGNORECASE)
_NAME = r"max_?(?:completion_|output_?)?tokens\b"
_AT_MOST = (
    "less than or equal to|at most|not exceed|cannot exceed|no more than|must be <="
)
# How many tokens a model ever gives, as OpenAI, Anthropic, Bedrock, Google, Groq,
# DeepSeek, Qwen and Cohere put it; what ends with a bracket is one too many.
_LIMITS = tuple(
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        rf"supports at most {_NUMBER} (?:completion|output) tokens",
        rf"max_tokens: \d+ > {_NUMBER}, which is the maximum",
        rf"tokens you requested exceeds the model limit of {_NUMBER}",
        rf"range is from 1 \(inclusive\) to {_NUMBER} (\(exclusive\))",
        rf"{_NAME}.{{0,60}}?\b(?:range|be|is)\b.{{0,10}}?[\[(][01], ?{_NUMBER}([\])])",
        rf"{_NAME}.{{0,60}}?(?:{_AT_MOST}) [`'\"]?{_NUMBER}",
    )
)
_EXCLUSIVE = frozenset({")", "(exclusive)"})


def read_output_budget(text: str) -> int | None:
    """Return for how many tokens there was room; None if for too few, or not said."""
    left = next(_rooms(text), None)
    return left if left is not None and left >= LEAST_OUTPUT else None


def read_output_limit(text: str) -> int | None:
    """Return how many tokens the model gives at most, if that was too many asked."""
    for pattern in _LIMITS:
        if found := pattern.search(text):
            is_beyond = found[found.lastindex or 0] in _EXCLUSIVE
            limit = _whole(found[1]) - is_beyond
            return limit if limit > 0 else None
    return None


def _rooms(text: str) -> Iterator[int]:
    for shape, room in _SUMS:
        if found := shape.search(text):
            yield room(*map(_whole, found.groups()))
    windows = (found for one in _WINDOWS if (found := one.search(text)))
    window = next(windows, None)
    parts = [_whole(number) for part in _PROMPT_PARTS for number in _found(part, text)]
    # Without a word on the reply it is the prompt alone that is too long.
    if window is not None and parts and _OUTPUT.search(text):
        yield _whole(window[1]) - sum(parts)


def _found(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    for found in pattern.finditer(text):
        yield from filter(None, found.groups())


def _whole(number: str) -> int:
    return int(re.sub(r"\D", "", number))
