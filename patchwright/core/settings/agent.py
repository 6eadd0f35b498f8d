"""The settings of the agent and of its models."""

from difflib import get_close_matches
from typing import Any, Literal

from pydantic import Field, SecretStr, field_validator, model_validator

from patchwright.core.settings.fields import SettingsSection, read_model_server

_NAMED = "Which `llm.<name>`; empty: the one of `agent.model`."


class AgentSettings(SettingsSection):
    """How the agent works."""

    name: str = Field(
        "coder", description="Which agent: `coder`, or one that a plug-in brings."
    )
    model: str = Field(
        "", description="Which `llm.<name>` it uses; empty: the one of `llm` itself."
    )
    condense_model: str = Field("", description=f"To condense. {_NAMED}")
    delegate_model: str = Field("", description=f"For delegates. {_NAMED}")
    judge_model: str = Field(
        "",
        description="Which `llm.<name>` looks over a change that no test proves; "
        "empty: nobody does.",
    )
    condenser: tuple[str, ...] = Field(
        ("masking", "summary"),
        description="What shortens a long conversation, tried in this order: `none`, "
        "`recent`, `masking`, `amortised`, `summary`, or one that a plug-in brings.",
    )
    analyzers: tuple[str, ...] = Field(
        ("rules", "model"),
        description="What judges how risky an action is; the highest word counts: "
        "`rules`, `model`, or one that a plug-in brings.",
    )
    confirm: Literal["never", "risky", "always"] = Field(
        "never", description="Which actions wait for a person's word."
    )
    max_delegate_depth: int = Field(
        1, ge=0, le=5, description="How deep delegates may delegate; 0: not at all."
    )
    triage: bool = Field(
        default=True,
        description="Whether a request that says too little, or asks for too much at "
        "once, is answered with a question before a model is paid.",
    )


class ModelSettings(SettingsSection):
    """A model and how to reach it; what it costs, where no table knows."""

    model: str = Field("", description="Name as litellm spells it: `provider/model`.")
    api_key: SecretStr | None = Field(None, description="Key of the provider.")
    base_url: str = Field("", description="Address of an OpenAI-compatible server.")
    api_version: str = Field(
        "", description="Version of the provider's API, where it wants one, as Azure."
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
        description="Price in USD of what the provider had in its cache; counts with "
        "the two others only. None: as any other input.",
    )
    context_window: int | None = Field(
        None, gt=0, description="Tokens, instead of the model table's."
    )
    max_output_tokens: int | None = Field(
        None, gt=0, description="Tokens, instead of the model table's."
    )
    sees_images: bool | None = Field(
        None, description="Whether it takes images, instead of the model table's word."
    )
    reasoning_effort: Literal["", "none", "minimal", "low", "medium", "high"] = Field(
        "", description="How much it thinks before it answers, where it can be told."
    )
    tool_calls: Literal["auto", "native", "text"] = Field(
        "auto",
        description="Whether it calls tools as its provider defines, or writes the "
        "calls as `text`; `auto`: as text where it is known that it cannot otherwise.",
    )

    @field_validator("base_url")
    @classmethod
    def _read_base_url(cls, value: str) -> str:
        return read_model_server(value) if value else ""


class LlmSettings(ModelSettings):
    """The model that is used unless another is named, and the named ones."""

    fallbacks: tuple[str, ...] = Field(
        (),
        description="Which `llm.<name>` are asked, in this order, while a model does "
        "not answer, is out of credit or declines.",
    )
    vision_model: str = Field(
        "",
        description="Which `llm.<name>` is asked where there are images, unless the "
        "model sees them itself; empty: the first of `fallbacks` that does.",
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
        """Return the configured name that looks most like this one, if there is any."""
        matches = get_close_matches(name, self.named, n=1, cutoff=0.0)
        return matches[0] if matches else None
