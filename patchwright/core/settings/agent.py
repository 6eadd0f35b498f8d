"""The settings of the agent and of its models."""

from difflib import get_close_matches
from typing import Any, Literal

from pydantic import Field, SecretStr, field_validator, model_validator

from patchwright.core.settings.fields import SettingsSection, read_model_server

_NAMED = "Name of an `llm.<name>`; empty: the model of `agent.model`."


class AgentSettings(SettingsSection):
    """How the agent works."""

    name: str = Field(
        "coder", description="Which agent: `coder`, or the name of a plug-in."
    )
    model: str = Field(
        "",
        description="Name of the `llm.<name>` that the agent uses; empty: the model "
        "of `llm` itself.",
    )
    condense_model: str = Field("", description=f"Model for condensing. {_NAMED}")
    delegate_model: str = Field("", description=f"Model for delegates. {_NAMED}")
    judge_model: str = Field(
        "",
        description="Name of the `llm.<name>` that reviews a change that no test "
        "proves; empty: no review.",
    )
    condenser: tuple[str, ...] = Field(
        ("masking", "summary"),
        description="Condensers that shorten a long conversation, tried in this "
        "order: `none`, `recent`, `masking`, `amortised`, `summary`, or "
        "the name of a plug-in.",
    )
    analyzers: tuple[str, ...] = Field(
        ("rules", "model"),
        description="Analyzers that judge how risky an action is; the highest risk "
        "counts: `rules`, `model`, or the name of a plug-in.",
    )
    confirm: Literal["never", "risky", "always"] = Field(
        "never", description="Which actions wait until a person approves them."
    )
    max_delegate_depth: int = Field(
        1,
        ge=0,
        le=5,
        description="How many levels of delegates there may be; 0: no delegates.",
    )
    triage: bool = Field(
        default=True,
        description="Whether a request that says too little, or asks for too much at "
        "once, is answered with a question before the first model call.",
    )


class ModelSettings(SettingsSection):
    """A model, how to reach it, and its price if the model table has none."""

    model: str = Field(
        "", description="Name of the model as litellm writes it: `provider/model`."
    )
    api_key: SecretStr | None = Field(None, description="API key of the provider.")
    base_url: str = Field("", description="Address of an OpenAI-compatible server.")
    api_version: str = Field(
        "", description="Version of the provider's API, if it needs one, as Azure does."
    )
    input_cost_per_token: float | None = Field(
        None,
        ge=0,
        allow_inf_nan=False,
        description="Price in USD, instead of the model table's.",
    )
    output_cost_per_token: float | None = Field(
        None,
        ge=0,
        allow_inf_nan=False,
        description="Price in USD, instead of the model table's.",
    )
    cached_cost_per_token: float | None = Field(
        None,
        ge=0,
        allow_inf_nan=False,
        description="Price in USD of a token from the provider's cache; used only "
        "together with the two other prices. None: the price of other "
        "input.",
    )
    context_window: int | None = Field(
        None, gt=0, description="Tokens, instead of the model table's."
    )
    max_output_tokens: int | None = Field(
        None, gt=0, description="Tokens, instead of the model table's."
    )
    sees_images: bool | None = Field(
        None,
        description="Whether the model reads images, instead of the model table's "
        "value.",
    )
    reasoning_effort: Literal["", "none", "minimal", "low", "medium", "high"] = Field(
        "",
        description="How much the model thinks before it answers, if it has this "
        "option.",
    )
    tool_calls: Literal["auto", "native", "text"] = Field(
        "auto",
        description="How the model calls tools: with its provider's tool calls "
        "(`native`) or as `text`; `auto`: as text if the model is known "
        "to have no tool calls.",
    )

    @field_validator("model")
    @classmethod
    def _read_model(cls, value: str) -> str:
        name = value.strip()
        if any(map(str.isspace, name)) and not name.startswith("recorded:"):
            raise ValueError("expected PROVIDER/MODEL without spaces")
        return name

    @field_validator("base_url")
    @classmethod
    def _read_base_url(cls, value: str) -> str:
        return read_model_server(value) if value else ""


class LlmSettings(ModelSettings):
    """The default model, and further models by name."""

    fallbacks: tuple[str, ...] = Field(
        (),
        description="Names of `llm.<name>` to use instead, in this order, if a model "
        "does not answer, has no credit left or declines.",
    )
    vision_model: str = Field(
        "",
        description="Name of the `llm.<name>` for requests with images, if the model "
        "itself cannot read images; empty: the first of `fallbacks` that "
        "can.",
    )
    named: dict[str, ModelSettings] = Field({}, exclude=True)

    @model_validator(mode="before")
    @classmethod
    def _collect_named(cls, data: Any) -> Any:  # noqa: ANN401 - as pydantic hands it
        if not isinstance(data, dict):
            return data
        tables = {k: v for k, v in data.items() if k not in cls.model_fields}
        tables = {k: v for k, v in tables.items() if isinstance(v, dict)}
        rest = {k: v for k, v in data.items() if k not in tables}
        return {"named": tables, **rest}

    def find(self, name: str) -> ModelSettings | None:
        """Return the model of that name; an empty name means the default one.

        A named model without an address of its own shares the default's key.
        """
        if not name:
            return self
        found = self.named.get(name)
        if found is None or found.base_url or found.api_key:
            return found
        return found.replace(api_key=self.api_key, base_url=self.base_url)

    def nearest(self, name: str) -> str | None:
        """Return the configured name that is most similar, if there is any."""
        matches = get_close_matches(name, self.named, n=1, cutoff=0.0)
        return matches[0] if matches else None
