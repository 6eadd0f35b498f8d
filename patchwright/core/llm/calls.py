"""Put together what litellm is called with, and what the caller gets back."""

from patchwright.core.events.types import ModelReply
from patchwright.core.llm.config import ModelConfig
from patchwright.core.llm.model import ModelRequest
from patchwright.core.llm.replies import Reply
from patchwright.core.llm.wire import wants_cache_marks, wire_messages, wire_tools
from patchwright.core.types.work import Usage

# A server of one's own often wants no key, but the client library wants one to send,
# and would otherwise take a key for somebody else's server from the environment.
NO_KEY = "no-key"


def call_arguments(
    config: ModelConfig, request: ModelRequest, max_output: int | None
) -> dict[str, object]:
    marks = wants_cache_marks(config.model)
    optional = {
        "tools": wire_tools(request.tools) or None,
        "max_tokens": max_output,
        "temperature": config.temperature,
        "api_base": config.base_url,
        "api_key": _key(config),
    }
    return {
        "model": config.model,
        "messages": wire_messages(request.messages, config.model, cache_marks=marks),
        **{key: value for key, value in optional.items() if value is not None},
    }


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
