"""The settings of a run: limits, sandbox."""

from typing import Literal

from pydantic import Field, ValidationInfo, field_validator

from patchwright.core.settings.section import Section
from patchwright.core.types.work import Limits


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

    kind: str = Field(
        "auto",
        description="`docker`, `local` (bubblewrap), `auto` for whichever works, or "
        "the name of a plug-in.",
    )
    image: str = Field(
        "python:3.12-bookworm",
        description="Any image with Python and git; what Docker starts.",
    )
    network: Literal["deny", "allow"] = Field(
        "deny", description="Whether commands reach the network."
    )
    repositories_may_open: bool = Field(
        default=False,
        description='Whether a repository\'s own `network = "allow"` counts.',
    )
    allow_domains: tuple[str, ...] = Field(
        (),
        description="Hosts that MCP servers with a `url` may be on; commands in the "
        'sandbox reach none of them. Needs `network = "deny"`.',
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
    def _refuse_allow_list(
        cls, value: tuple[str, ...], info: ValidationInfo
    ) -> tuple[str, ...]:
        """Refuse what would look like protection and be none."""
        if value and info.data.get("network") == "allow":
            raise ValueError(
                "a list of domains cannot be enforced for commands; leave it out or "
                'set sandbox.network to "deny"'
            )
        return value
