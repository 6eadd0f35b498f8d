"""The settings of a run: model, limits, sandbox."""

from typing import Any, Literal

from pydantic import Field, SecretStr, field_validator, model_validator

from patchwright.core.settings.section import Section
from patchwright.core.types.work import Limits


class ModelSettings(Section):
    """A model and how to reach it; what it costs, where no table knows."""

    model: str = Field("", description="Name as litellm spells it: `provider/model`.")
    api_key: SecretStr | None = Field(None, description="Key of the provider.")
    base_url: str = Field("", description="Address of an OpenAI-compatible server.")
    input_cost_per_token: float | None = Field(
        None, ge=0, description="Price in USD, instead of the model table's."
    )
    output_cost_per_token: float | None = Field(
        None, ge=0, description="Price in USD, instead of the model table's."
    )
    context_window: int | None = Field(
        None, gt=0, description="Tokens, instead of the model table's."
    )
    max_output_tokens: int | None = Field(
        None, gt=0, description="Tokens, instead of the model table's."
    )


class LlmSettings(ModelSettings):
    """The model that is used unless another is named, and the named ones."""

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
        return found.model_copy(
            update={"api_key": self.api_key, "base_url": self.base_url}
        )


class LimitSettings(Section):
    """Where a run must stop, and how much may be spent in all."""

    max_cost_usd: float = Field(3.0, ge=0, description="Most that one run may cost.")
    max_tokens: int = Field(
        2_000_000, gt=0, description="Most tokens of one run where no price is known."
    )
    max_iterations: int = Field(50, gt=0, description="Most model calls of one run.")
    max_minutes: float = Field(30.0, gt=0, description="Longest time of one run.")
    unknown_price: Literal["cap-tokens", "refuse"] = Field(
        "cap-tokens",
        description="Where no price is known: hold `max_tokens`, or refuse the run.",
    )
    per_user_day_usd: float | None = Field(
        None, ge=0, description="Most that one person may spend a day."
    )
    per_repo_day_usd: float | None = Field(
        None, ge=0, description="Most that one repository may spend a day."
    )
    per_day_usd: float | None = Field(
        None, ge=0, description="Most that everybody together may spend a day."
    )
    max_parallel: int = Field(2, gt=0, description="Most runs at the same time.")
    runs_per_thread_hour: int = Field(
        10, gt=0, description="Most runs that one thread may start an hour."
    )

    def of_a_run(self) -> Limits:
        return Limits(
            max_iterations=self.max_iterations,
            max_cost_usd=self.max_cost_usd,
            max_tokens=self.max_tokens,
            max_minutes=self.max_minutes,
        )


class SandboxSettings(Section):
    """Where the agent's commands run, and what they may use."""

    kind: Literal["auto", "docker", "local"] = Field(
        "auto", description="`docker`, `local` (bubblewrap), or whichever works."
    )
    image: str = Field(
        "python:3.12-bookworm",
        description="Any image with Python and git; what Docker starts.",
    )
    network: Literal["deny", "allow"] = Field(
        "deny", description="Whether commands reach the network."
    )
    allow_domains: tuple[str, ...] = Field(
        (), description="Not supported yet; setting it is an error."
    )
    runtime: str = Field(
        "", description="Docker's runtime, for example `runsc` for gVisor."
    )
    memory: str = Field(
        "4g", pattern=r"^[1-9]\d*[bkmg]?$", description="Most memory, as `512m`, `4g`."
    )
    cpus: float = Field(2.0, gt=0, description="Most processors' time.")
    command_timeout_s: float = Field(
        120.0, gt=0, description="Seconds before a command is reported as running."
    )

    @field_validator("allow_domains")
    @classmethod
    def _refuse_allow_list(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse what would look like protection and be none."""
        if value:
            raise ValueError(
                "a list of domains cannot be enforced yet; leave it out and set "
                'sandbox.network to "deny" or "allow"'
            )
        return value
