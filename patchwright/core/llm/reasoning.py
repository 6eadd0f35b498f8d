"""Keep a model's reasoning as blocks, and give it back as it came."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from patchwright.core.text.surrogates import well_formed_tree
from patchwright.core.types.base import Value

Block = dict[str, JsonValue]

THINKING = ("thinking", "redacted_thinking")
# A block of ours: what goes back with each tool call, by the call's id.
WITH_CALLS = "with_calls"
_SIGNATURES = "thought_signatures"


class SentReasoning(Value):
    """What providers put into a message beside its words and calls."""

    thinking_blocks: list[Block] | None = None
    reasoning_content: str | None = None
    provider_specific_fields: Block | None = None


def read_reasoning(
    sent: SentReasoning, call_extras: Mapping[str, Block]
) -> tuple[Block, ...]:
    """Return the blocks that the provider wants back, and nothing it can do without.

    Signed thinking is kept as it came; what came under another key of the message goes
    back under that key.
    """
    by_call: JsonValue = dict(call_extras)
    signed: Block = {"type": WITH_CALLS, "value": by_call}
    return (*_of_the_message(sent), *([signed] if call_extras else []))


def _of_the_message(sent: SentReasoning) -> Sequence[Block]:
    fields = sent.provider_specific_fields or {}
    if signatures := fields.get(_SIGNATURES):
        # Gemini's thoughts are for readers; it knows its own by the signatures.
        # https://ai.google.dev/gemini-api/docs/thought-signatures
        value: JsonValue = {_SIGNATURES: signatures}
        return [{"type": "provider_specific_fields", "value": value}]
    if sent.thinking_blocks:
        return sent.thinking_blocks
    if details := fields.get("reasoning_details"):
        return [{"type": "reasoning_details", "value": details}]
    if sent.reasoning_content:
        return [{"type": "reasoning_content", "value": sent.reasoning_content}]
    return []


def message_keys(blocks: Sequence[Block]) -> Block:
    """Return what the blocks add to a message, under the keys they came with."""
    thinking: list[JsonValue] = [
        block for block in blocks if block.get("type") in THINKING
    ]
    keys: Block = {"thinking_blocks": thinking} if thinking else {}
    for block in blocks:
        if block.get("type") not in (*THINKING, WITH_CALLS):
            keys[str(block.get("type"))] = well_formed_tree(block.get("value"))
    return keys


def call_keys(blocks: Sequence[Block], call_id: str) -> Block:
    """Return what the blocks add to a tool call."""
    for block in blocks:
        by_call = block.get("value")
        if block.get("type") == WITH_CALLS and isinstance(by_call, dict):
            keys = by_call.get(call_id)
            return keys if isinstance(keys, dict) else {}
    return {}


def is_thinking(blocks: Sequence[Block]) -> bool:
    return any(block.get("type") in THINKING for block in blocks)
