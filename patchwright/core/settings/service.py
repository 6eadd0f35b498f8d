"""Settings of the service: server, database, queue, security, people, telemetry."""

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, field_validator

from patchwright.core.settings.fields import (
    EncryptionKeys,
    SettingsSection,
    read_networks,
    read_public_url,
)
from patchwright.core.types.people import Permission


class ServerSettings(SettingsSection):
    """Where the web process listens, and the address at which people reach it."""

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8080, ge=0, le=65535, description="Port to listen on.")
    public_url: str = Field(
        "",
        description="Public address of this service, for links; empty: no links to it.",
    )
    max_body_bytes: int = Field(
        26_214_400, gt=0, description="Largest webhook body that is read, in bytes."
    )
    api_requests_per_minute: int = Field(
        600,
        ge=0,
        description="How many requests to the API a person, or an address that shows "
        "no valid token, may send to a web process in a minute. 0: no limit.",
    )
    trusted_proxies: Annotated[tuple[str, ...], AfterValidator(read_networks)] = Field(
        ("127.0.0.1", "::1"),
        description="Addresses or networks of the proxies in front of the service: "
        "the client address that they send is used, and they may have "
        "more connections than others.",
    )

    @field_validator("public_url")
    @classmethod
    def _read_public_url(cls, value: str) -> str:
        return read_public_url(value) if value else ""


class DatabaseSettings(SettingsSection):
    """Where everything is stored."""

    url: SecretStr = Field(
        description="SQLAlchemy address: SQLite or `postgresql+psycopg://`.",
        json_schema_extra={"default": "sqlite:///STATE_DIR/patchwright.db"},
    )

    @property
    def is_sqlite(self) -> bool:
        """Tell whether it is a file, which the processes of one machine share."""
        return self.url.get_secret_value().startswith(("sqlite:", "sqlite+"))


class QueueSettings(SettingsSection):
    """The broker that carries job ids from the web process to the workers."""

    broker_url: SecretStr = Field(
        SecretStr("memory://"),
        description="`memory://` in one process group, or `redis://`.",
    )
    lease_seconds: float = Field(
        30.0,
        ge=1,
        description="Seconds without a heartbeat after which the job of a worker is "
        "given to another worker; a worker sends three heartbeats in that "
        "time.",
    )
    sweep_seconds: float = Field(
        20.0,
        ge=1,
        description="Seconds between two checks for jobs that the broker or a worker "
        "lost.",
    )

    @property
    def is_in_memory(self) -> bool:
        """Tell whether it carries nothing from one process to another."""
        return self.broker_url.get_secret_value().startswith("memory:")

    @property
    def resubmit_after_s(self) -> float:
        """How long a job may wait in the broker before it counts as lost there."""
        return 3 * self.sweep_seconds


class SecuritySettings(SettingsSection):
    """Who may start runs, and the service's own secrets."""

    encryption_keys: EncryptionKeys = Field(
        (),
        description="Keys for stored secrets, `id:base64 of 32 bytes`, separated by "
        "commas; the first encrypts.",
    )
    session_secret: SecretStr | None = Field(
        None, description="Secret that signs the sessions of the web pages."
    )
    admin_token: SecretStr | None = Field(
        None,
        description="Token of the operator: it opens the pages that create the App "
        "(`/setup/github`), makes somebody an admin on the page `/people`, "
        "and with `Authorization: Bearer` it is an admin's API token.",
    )
    min_permission: Permission = Field(
        Permission.WRITE,
        description="Permission in a repository that a person needs to start a run: "
        "`read`, `triage`, `write`, `maintain` or `admin`.",
    )
    allow_users: tuple[str, ...] = Field(
        (), description="Logins that may start runs with any permission."
    )
    allow_bots: tuple[str, ...] = Field(
        (), description="Bots that may start runs, with or without `[bot]`."
    )

    repositories_may_widen: tuple[
        Literal["min_permission", "allow_users", "allow_bots"], ...
    ] = Field(
        (),
        description="Which of `min_permission`, `allow_users` and `allow_bots` a "
        "repository's own file may widen; it may always narrow them.",
    )

    @field_validator("min_permission")
    @classmethod
    def _refuse_everybody(cls, value: Permission) -> Permission:
        if value is Permission.NONE:
            raise ValueError("`none` would let every stranger start runs")
        return value


class AccountSettings(SettingsSection):
    """How identities on services become accounts.

    Which services there are is not known here: see `integrations.settings`.
    """

    linking: Literal["auto", "required"] = Field(
        "auto",
        description="`auto`: people on the forge need no link; others link once, or "
        "are in `map`. `required`: people on the forge must sign in here once "
        "too.",
    )
    default_role: Literal["viewer", "member"] = Field(
        "member",
        description="Role of a new account: a `viewer` only looks, a `member` may also "
        "start and steer runs where the forge lets them.",
    )
    admins: tuple[str, ...] = Field(
        (),
        description="People who are always admins: `FORGE:LOGIN`, such as "
        "`github:alice`, or `oidc:` with the subject or the verified e-mail address.",
    )
    map: tuple[dict[str, str], ...] = Field(
        (),
        description="Identities of the same person, such as "
        '`[{"slack": "U1", "jira": "5b10", "github": "alice"}]`.',
    )

    @field_validator("admins")
    @classmethod
    def _read_admins(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(one.replace(":@", ":", 1) for one in value)


class OidcSettings(SettingsSection):
    """An OpenID Connect provider at which people sign in."""

    issuer: str = Field(
        "",
        description="Name of the provider, which is its address, such as "
        "`https://sso.example.com/realms/acme`; empty: nobody signs in there.",
    )
    client_id: str = Field("", description="Client id that the provider gave us.")
    client_secret: SecretStr | None = Field(
        None, description="Its secret; without one we are a public client."
    )
    scopes: tuple[str, ...] = Field(
        ("openid", "profile", "email"), description="Scopes to ask for."
    )
    name: str = Field("single sign-on", description="What people call the provider.")
    group_claim: str = Field(
        "groups",
        description="Claim, of the ID token or of the provider's userinfo, that names "
        "a person's groups. It may need a scope of its own in `oidc.scopes`.",
    )
    admin_group: str = Field(
        "",
        description="Group whose people become admins at their next sign-in. Without "
        "the group they are admins no more.",
    )

    @property
    def is_configured(self) -> bool:
        return bool(self.issuer and self.client_id)

    @field_validator("issuer")
    @classmethod
    def _read_issuer(cls, value: str) -> str:
        parts = urlsplit(value)
        is_local = parts.hostname in {"localhost", "127.0.0.1", "::1"}
        is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_local)
        if value and not (is_safe and parts.netloc):
            raise ValueError("expected an address that begins with https://")
        return value


class TelemetrySettings(SettingsSection):
    """Health and metrics of each process, on a port that is not public."""

    host: str = Field(
        "127.0.0.1",
        description="Address on which every process answers `/healthz`, `/readyz` and "
        "`/metrics`.",
    )
    port: int | None = Field(
        None,
        ge=0,
        le=65535,
        description="Port for these; without it there is no such port.",
    )
    metrics_token: SecretStr | None = Field(
        None,
        min_length=16,
        description="Token for `/metrics` (`Authorization: Bearer`). Without it, "
        "metrics are shown only on this port, and only to loopback and "
        "private addresses.",
    )
