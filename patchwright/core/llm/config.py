"""Which model is called, where, and what it costs."""

from urllib.parse import urlsplit

from pydantic import SecretStr

from patchwright.core.types.base import Value


class ModelConfig(Value):
    """A model as the settings describe it.

    `model` is litellm's name, `provider/name`; `openai/NAME` with a `base_url` is any
    server that speaks the OpenAI protocol. Prices are in USD for one token, and both
    input and output are needed; together they override the price table.
    """

    model: str
    api_key: SecretStr | None = None
    base_url: str | None = None
    api_version: str | None = None
    input_cost_per_token: float | None = None
    output_cost_per_token: float | None = None
    cached_cost_per_token: float | None = None
    context_window: int | None = None
    max_output_tokens: int | None = None
    sees_images: bool | None = None
    temperature: float | None = None
    reasoning_effort: str | None = None

    @property
    def place(self) -> str:
        """Name the model for people: what it is, and on which host."""
        if not self.base_url:
            return self.model
        return f"{self.model} at {_host(self.base_url)}"


def _host(url: str) -> str:
    """Return host and port of a URL, without the credentials it may carry."""
    return urlsplit(url).netloc.rpartition("@")[2] or "its base URL"
