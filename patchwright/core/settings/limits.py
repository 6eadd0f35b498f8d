"""The settings of a run: limits and sandbox."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator

from patchwright.core.llm.errors import UNKNOWN_COST_PER_TOKEN
from patchwright.core.security.hosts import read_domain
from patchwright.core.settings.fields import SettingsSection
from patchwright.core.types.work import Limits


def _read_day_ceiling(value: object) -> object:
    """Return None for what switches a ceiling off."""
    is_off = value == "none" or (isinstance(value, str) and not value.strip())
    if is_off:
        return None
    try:
        return None if float(str(value)) == 0 else value
    except ValueError:
        return value


# What may be spent in a day, in UTC.
DayCeiling = Annotated[
    Annotated[float, Field(ge=0, allow_inf_nan=False)] | None,
    BeforeValidator(_read_day_ceiling),
]


class LimitSettings(SettingsSection):
    """Where a run must stop, and how much may be spent in all."""

    max_cost_usd: float = Field(
        3.0, ge=0, allow_inf_nan=False, description="Most that one run may cost."
    )
    max_tokens: int = Field(
        2_000_000, gt=0, description="Most tokens of one run where no price is known."
    )
    max_iterations: int = Field(50, gt=0, description="Most model calls of one run.")
    max_minutes: float = Field(30.0, gt=0, description="Longest time of one run.")
    unknown_price: Literal["cap-tokens", "refuse"] = Field(
        "cap-tokens",
        description="Where no price is known: hold `max_tokens`, or refuse the run.",
    )
    unknown_cost_per_token: float = Field(
        UNKNOWN_COST_PER_TOKEN,
        gt=0,
        allow_inf_nan=False,
        description="Price in USD that a token is taken to have where none is known: "
        "set aside before each call, and counted against the ceilings of the day.",
    )
    max_raise_usd: float | None = Field(
        None,
        ge=0,
        allow_inf_nan=False,
        description="Most that people who may write add to a run's `max_cost_usd` with "
        "`budget`; beyond it only admins of the repository do. None: as much again as "
        "`max_cost_usd`.",
    )
    per_user_day_usd: DayCeiling = Field(
        50.0, description="Most that one person may spend a day; 0 or `none`: no limit."
    )
    per_repo_day_usd: DayCeiling = Field(
        100.0,
        description="Most that one repository may spend a day; 0 or `none`: no limit.",
    )
    per_day_usd: DayCeiling = Field(
        250.0,
        description="Most that everybody together may spend a day; 0 or `none`: no "
        "limit.",
    )
    max_parallel: int = Field(2, gt=0, description="Most runs at the same time.")
    runs_per_thread_hour: int = Field(
        10, gt=0, description="Most runs that one thread may start an hour."
    )
    min_free_gib: float = Field(
        1.0,
        ge=0,
        description="Room on the disk of `state_dir`, in GiB, below which no run "
        "begins.",
    )

    def of_a_run(self) -> Limits:
        return Limits(
            max_iterations=self.max_iterations,
            max_cost_usd=self.max_cost_usd,
            max_tokens=self.max_tokens,
            max_minutes=self.max_minutes,
        )


class SandboxSettings(SettingsSection):
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
    network: Literal["deny", "allowlist", "allow"] = Field(
        "deny",
        description="Whether commands reach the network: not at all, the hosts in "
        "`allow_domains`, or everything public (both through a proxy, with Docker or "
        "bubblewrap). No private address is open that `allow_domains` does not list.",
    )
    repositories_may_open: bool = Field(
        default=False,
        description="Whether a repository's own `network` counts where it opens more.",
    )
    allow_domains: tuple[str, ...] = Field(
        (),
        validate_default=True,
        description='Hosts that commands may reach with `network = "allowlist"`, and '
        "that MCP servers with a `url` may be on: `example.com`, `*.example.com`, "
        "`example.com:8443`.",
    )
    runtime: str = Field(
        "", description="Docker's runtime, for example `runsc` for gVisor."
    )
    memory: str = Field(
        "4g", pattern=r"^[1-9]\d*[bkmg]?$", description="Most memory, as `512m`, `4g`."
    )
    disk: str = Field(
        "10g",
        pattern=r"^[1-9]\d*[bkmg]?$",
        description="Most room for the files of a sandbox, as `512m`, `10g`; and one "
        "file for each 8 KiB of it.",
    )
    cpus: float = Field(
        2.0, gt=0, description="Most processors' time; with Docker alone."
    )
    command_timeout_s: float = Field(
        120.0, gt=0, description="Seconds before a command is reported as running."
    )

    @field_validator("allow_domains")
    @classmethod
    def _fit_the_network(
        cls, value: tuple[str, ...], info: ValidationInfo
    ) -> tuple[str, ...]:
        """Refuse what would look like protection and be none."""
        network = info.data.get("network")
        if value and network == "allow":
            raise ValueError(
                "a list of domains is not enforced where sandbox.network is "
                '"allow"; leave it out or set sandbox.network to "allowlist"'
            )
        if not value and network == "allowlist":
            raise ValueError(
                'sandbox.network is "allowlist", so list the hosts, or set it to "deny"'
            )
        for domain in value:
            read_domain(domain)
        return value
