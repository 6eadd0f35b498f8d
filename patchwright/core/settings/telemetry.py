"""The settings of what operators look at: health and metrics."""

from pydantic import Field, SecretStr

from patchwright.core.settings.section import SettingsSection


class TelemetrySettings(SettingsSection):
    """Health and metrics of each process, on a port that the public does not reach."""

    host: str = Field(
        "127.0.0.1",
        description="Address on which every process answers `/healthz`, `/readyz` and "
        "`/metrics`.",
    )
    port: int | None = Field(
        None, ge=0, le=65535, description="Port for that; without it there is none."
    )
    metrics_token: SecretStr | None = Field(
        None,
        min_length=16,
        description="Token for `/metrics` (`Authorization: Bearer`). Without it, they "
        "are shown on this port alone, and only to loopback and private addresses.",
    )
