"""The settings of a run: limits and sandbox."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator

from patchwright.core.llm.errors import UNKNOWN_COST_PER_TOKEN
from patchwright.core.security.hosts import read_domain
from patchwright.core.settings.fields import SettingsSection
from patchwright.core.types.work import Limits


def _read_day_ceiling(value: object) -> object:
    """Return None for a value that switches a limit off."""
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
    """Limits of a run, and of the money that may be spent in all."""

    max_cost_usd: float = Field(
        3.0, gt=0, allow_inf_nan=False, description="Highest cost of one run, in USD."
    )
    max_tokens: int = Field(
        2_000_000,
        gt=0,
        description="Highest number of tokens of one run, if no price is known.",
    )
    max_iterations: int = Field(
        50, gt=0, description="Highest number of model calls of one run."
    )
    timeout_minutes: float = Field(
        30.0, gt=0, description="Longest time of one run, in minutes."
    )
    unknown_price: Literal["cap-tokens", "refuse"] = Field(
        "cap-tokens",
        description="If no price is known: limit the run by `max_tokens`, or "
        "refuse it.",
    )
    unknown_cost_per_token: float = Field(
        UNKNOWN_COST_PER_TOKEN,
        gt=0,
        allow_inf_nan=False,
        description="Price in USD to assume for a token if none is known: reserved "
        "before each call, and counted against the daily limits.",
    )
    max_raise_usd: float | None = Field(
        None,
        ge=0,
        allow_inf_nan=False,
        description="Most that people who may write can add to a run's `max_cost_usd` "
        "with `budget`; only admins of the repository can add more. None: "
        "the same amount as `max_cost_usd`.",
    )
    per_user_day_usd: DayCeiling = Field(
        50.0,
        description="Most that one person may spend in a day, in USD; 0 or "
        "`none`: no limit.",
    )
    per_repo_day_usd: DayCeiling = Field(
        100.0,
        description="Most that one repository may spend in a day, in USD; 0 or "
        "`none`: no limit.",
    )
    per_day_usd: DayCeiling = Field(
        250.0,
        description="Most that everybody together may spend in a day, in USD; 0 or "
        "`none`: no limit.",
    )
    max_parallel: int = Field(
        2, gt=0, description="Highest number of runs at the same time."
    )
    runs_per_thread_hour: int = Field(
        10,
        gt=0,
        description="Highest number of runs that one thread may start in an hour.",
    )
    min_free_gib: float = Field(
        1.0,
        ge=0,
        description="Free space that the disk of `state_dir` needs before a run "
        "starts, in GiB.",
    )

    def of_a_run(self) -> Limits:
        return Limits(
            max_iterations=self.max_iterations,
            max_cost_usd=self.max_cost_usd,
            max_tokens=self.max_tokens,
            max_minutes=self.timeout_minutes,
        )


class SandboxSettings(SettingsSection):
    """Where the agent's commands run, and what they may use."""

    kind: str = Field(
        "auto",
        description="`docker`, `local` (bubblewrap), `auto` for the one that works, "
        "or the name of a plug-in.",
    )
    image: str = Field(
        "python:3.12-bookworm",
        description="Image that Docker starts: any image with Python and git.",
    )
    network: Literal["deny", "allowlist", "allow"] = Field(
        "deny",
        description="What commands reach on the network: nothing, the hosts in "
        "`allow_domains`, or everything public (both through a proxy, "
        "with Docker or bubblewrap). A private address is open only if "
        "`allow_domains` lists it.",
    )
    repositories_may_open: bool = Field(
        default=False,
        description="Whether a repository's own `network` applies if it opens more.",
    )
    allow_domains: tuple[str, ...] = Field(
        (),
        validate_default=True,
        description='Hosts that commands may reach with `network = "allowlist"`, and '
        "where MCP servers with a `url` may be: `example.com`, `*.example.com`, "
        "`example.com:8443`.",
    )
    runtime: str = Field(
        "", description="Docker's runtime, for example `runsc` for gVisor."
    )
    memory: str = Field(
        "4g",
        pattern=r"^[1-9]\d*[bkmg]?$",
        description="Memory limit, such as `512m`, `4g`.",
    )
    disk: str = Field(
        "10g",
        pattern=r"^[1-9]\d*[bkmg]?$",
        description="Disk limit for the files of a sandbox, such as `512m`, `10g`; it "
        "also allows one file for each 8 KiB.",
    )
    cpus: float = Field(2.0, gt=0, description="Limit of processors; only with Docker.")
    infer_setup: bool = Field(
        default=True,
        description="Whether a sandbox is set up as lock files say (`npm ci`, "
        "`uv sync` and others) if `.patchwright.toml` has no `setup`; only with "
        "registries that `network` opens.",
    )
    setup_cache_gib: float = Field(
        5.0,
        ge=0,
        allow_inf_nan=False,
        description="Space below `state_dir` for what set-ups have made, in GiB: later "
        "sandboxes of the same repository start from it. 0: nothing is kept.",
    )
    setup_cache_days: float = Field(
        7.0,
        gt=0,
        allow_inf_nan=False,
        description="Days after which a set-up is run again in any case.",
    )
    command_timeout_seconds: float = Field(
        120.0,
        gt=0,
        description="Seconds before a command is reported as still running.",
    )

    toolchains: Literal["auto", "none"] = Field(
        "auto",
        description="With `auto`, `patchwright resolve` on a repository of this "
        "machine shows a bubblewrap sandbox your virtual environment, `node_modules` "
        "and toolchains outside of `/usr`, read-only. The service never does that.",
    )

    @field_validator("allow_domains")
    @classmethod
    def _fit_the_network(
        cls, value: tuple[str, ...], info: ValidationInfo
    ) -> tuple[str, ...]:
        """Refuse settings that look like protection but have no effect."""
        network = info.data.get("network")
        if value and network == "allow":
            raise ValueError(
                "a list of domains has no effect if sandbox.network is "
                '"allow"; leave it out or set sandbox.network to "allowlist"'
            )
        if not value and network == "allowlist":
            raise ValueError(
                'sandbox.network is "allowlist", so list the hosts, or set it to "deny"'
            )
        for domain in value:
            read_domain(domain)
        return value
