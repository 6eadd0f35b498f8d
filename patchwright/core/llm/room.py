"""How much of a model's context window is left, and when that is too little."""

from patchwright.core.llm.model import ModelCapabilities

USUAL_WINDOW = 128_000
USUAL_RESERVE = 8192
# A reserve never takes more than this part of a small window.
LARGEST_RESERVE_PART = 4
LEAST_OUTPUT = 1024
DUE_AT = 0.85
# A token of code holds three to four bytes, so this counts rather too many.
BYTES_PER_TOKEN = 3


def needs_condensing(tokens_at_last_reply: int, tail_bytes: int, capabilities: ModelCapabilities) -> bool:
    """Tell whether the chat should be condensed before the next request.

    `tokens_at_last_reply` is the provider's own count, prompt and reply together;
    `tail_bytes` is what has been added since. Counting anew would take longer than the
    rest of a step.
    """
    tokens = tokens_at_last_reply + tokens_in_bytes(tail_bytes)
    return tokens >= DUE_AT * prompt_budget(capabilities)


def prompt_budget(capabilities: ModelCapabilities) -> int:
    """Return how many tokens a prompt may have when the reply may be a usual one."""
    window = capabilities.context_window or USUAL_WINDOW
    return window - output_reserve(capabilities)


def output_reserve(capabilities: ModelCapabilities) -> int:
    window = capabilities.context_window or USUAL_WINDOW
    wanted = capabilities.max_output_tokens or USUAL_RESERVE
    return min(wanted, window // LARGEST_RESERVE_PART)


def output_allowed(capabilities: ModelCapabilities, prompt_tokens: int) -> int | None:
    """Return what to allow a reply: the usual limit, or what is left near the edge."""
    window, wanted = capabilities.context_window, capabilities.max_output_tokens
    if window is None or wanted is None:
        return wanted
    left = window - prompt_tokens
    return min(wanted, max(left, LEAST_OUTPUT))


def tokens_in_bytes(size_bytes: int) -> int:
    return size_bytes // BYTES_PER_TOKEN
