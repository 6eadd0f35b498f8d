"""Put together what litellm is called with, and what the caller gets back."""

from collections.abc import Mapping

from patchwright.core.events.types import ModelReply
from patchwright.core.llm.config import ModelConfig
from patchwright.core.llm.model import AssistantTurn, ModelRequest, ModelCapabilities
from patchwright.core.llm.reasoning import is_thinking
from patchwright.core.llm.replies import Reply
from patchwright.core.llm.wire import wants_cache_marks, wire_messages, wire_tools
from patchwright.core.types.work import Usage

# A server of one's own often wants no key, but the client library wants one to send,
# and would otherwise take a key for somebody else's server from the environment.
NO_KEY = "no-key"
# Or litellm would make a signature of Gemini's part of the call's id, which another
# provider refuses for its length.
SIGNATURES_APART: Mapping[str, object] = {"thought_signature_in_tool_call_id": False}
# What a server of one's own takes is in no table; what it was set, it is told.
EFFORT_PASSED_ON: Mapping[str, object] = {"allowed_openai_params": ["reasoning_effort"]}


def call_arguments(
    config: ModelConfig, request: ModelRequest, capabilities: ModelCapabilities
) -> dict[str, object]:
    """Return the arguments, but for how long the reply may be: tries differ in that."""
    optional = {
        "tools": wire_tools(request.tools) or None,
        "temperature": config.temperature,
        "reasoning_effort": _effort(config, request),
        "api_base": config.base_url,
        "api_version": config.api_version,
        "api_key": _key(config),
    }
    return {
        "model": config.model,
        "messages": wire_messages(
            request.messages,
            config.model,
            cache_marks=wants_cache_marks(config.model),
            images=capabilities.sees_images,
        ),
        **SIGNATURES_APART,
        **(EFFORT_PASSED_ON if config.base_url else {}),
        **{key: value for key, value in optional.items() if value is not None},
    }


def _effort(config: ModelConfig, request: ModelRequest) -> str | None:
    """Return how much to think, if it may: Claude must have thought before its calls.

    It refuses to go on thinking after calls that it, or another model in its place,
    made without a thought.
    https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking
    """
    if not config.reasoning_effort or not wants_cache_marks(config.model):
        return config.reasoning_effort or None
    turns = [turn for turn in request.messages if isinstance(turn, AssistantTurn)]
    if not turns or not turns[-1].tool_calls:
        return config.reasoning_effort
    is_own = turns[-1].model in ("", config.model)
    may = is_own and is_thinking(turns[-1].reasoning)
    return config.reasoning_effort if may else None


def _key(config: ModelConfig) -> str | None:
    if config.api_key is not None:
        return config.api_key.get_secret_value()
    return NO_KEY if config.base_url else None


def model_reply(
    reply: Reply, model: str, usage: Usage, *, latency_s: float
) -> ModelReply:
    return ModelReply(
        model=model,
        text=reply.text,
        tool_calls=reply.tool_calls,
        malformed=reply.malformed,
        reasoning=reply.reasoning,
        stop_reason=reply.stop_reason,
        usage=usage,
        latency_ms=round(latency_s * 1000),
    )
