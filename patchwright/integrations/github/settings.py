"""The settings of GitHub: github.com, its enterprise cloud or a server of one's own."""

import re
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, field_validator, model_validator

from patchwright.core.settings.fields import (
    Pem,
    Secrets,
    SettingsSection,
    address_parts,
    is_address,
    read_address,
)

HOW_TO_CONFIGURE: Final = (
    "set PATCHWRIGHT_GITHUB__TOKEN, or PATCHWRIGHT_GITHUB__APP_ID and "
    "PATCHWRIGHT_GITHUB__PRIVATE_KEY_FILE"
)

_SERVER_API: Final = "/api/v3"
_HANDLE = re.compile(r"[@/][A-Za-z0-9][A-Za-z0-9_.-]*\Z")


def read_github_api(value: str) -> str:
    """Return the address of GitHub's REST API, also where that of its pages is given.

    A server has it under `/api/v3`, the cloud on a host that starts with `api.`.
    https://docs.github.com/en/enterprise-server/rest/enterprise-admin
    """
    if not is_address(value):
        raise ValueError("expected an address such as https://HOST/api/v3")
    root, host, path = address_parts(value)
    cloud = _cloud_of(host)
    right = f"https://api.{cloud}" if cloud else f"{root}{_SERVER_API}"
    if path not in ("", _SERVER_API):
        raise ValueError(
            f"the path {path} is not part of the API's address: use {right}"
        )
    if path or cloud or not _is_server(host):
        return right if path or cloud else root
    return right


class GitHubSettings(SettingsSection):
    """How to reach GitHub and who the bot is there: an App, or a user with a token."""

    api_url: Annotated[str, AfterValidator(read_github_api)] = Field(
        "https://api.github.com",
        description="Address of the REST API; `https://HOST/api/v3` for an "
        "Enterprise Server.",
    )
    web_url: str = Field(
        "",
        description="Address that people and git use.",
        json_schema_extra={"default": "made from `api_url`"},
    )
    app_id: str = Field("", description="Id of the GitHub App.")
    private_key: Pem | None = Field(None, description="Private key of the App, PEM.")
    ca_bundle: str = Field(
        "",
        description="PEM file with the certificate authorities to trust, for your "
        "own server.",
    )
    webhook_secret: Secrets = Field(
        (),
        description="Secret that signs webhooks; while you change it, set both, "
        "separated by a comma.",
    )
    token: SecretStr | None = Field(
        None, description="Personal access token, instead of an App."
    )
    client_id: str = Field(
        "", description="Client id of the App, for people who sign in with GitHub."
    )
    client_secret: SecretStr | None = Field(
        None,
        description="Client secret of the App, for people who sign in.",
    )
    mention: str = Field(
        "@patchwright",
        description="What mentions the bot in a text: a name with an @, or a `/word`. "
        "Unless it is set, an App is mentioned by its own name.",
    )
    webhook_url: str = Field(
        "",
        description="Address to which GitHub sends webhooks, if a relay passes them on "
        "to this service.",
        json_schema_extra={"default": "made from `server.public_url`"},
    )
    label: str = Field(
        "patchwright", min_length=1, description="Label that starts a run."
    )
    commit_signing: Literal["auto", "api", "ssh", "none"] = Field(
        "auto",
        description="Who signs commits: GitHub (`api`), or `signing_key` (`ssh`). "
        "`auto` is `ssh` if there is a key, otherwise `api`. A change "
        "that GitHub cannot commit, such as a new script, is pushed "
        "unsigned.",
    )
    signing_key: Pem | None = Field(
        None, description="Private SSH key for `ssh`, in OpenSSH's format."
    )

    @model_validator(mode="before")
    @classmethod
    def _derive_web_url(cls, data: Any) -> Any:  # noqa: ANN401 - as pydantic hands it
        if not isinstance(data, dict) or data.get("web_url"):
            return data
        api_url = str(data.get("api_url", cls.model_fields["api_url"].default))
        try:
            return {**data, "web_url": _site_of(read_github_api(api_url))}
        except ValueError:
            # The address itself has its own check and message.
            return {**data, "web_url": ""}

    @field_validator("web_url")
    @classmethod
    def _read_web(cls, value: str) -> str:
        return read_github_web(value) if value else ""

    @field_validator("webhook_url")
    @classmethod
    def _read_webhook_url(cls, value: str) -> str:
        return read_address(value) if value else ""

    @field_validator("mention")
    @classmethod
    def _read_mention(cls, value: str) -> str:
        if not _HANDLE.match(value):
            raise ValueError(
                "expected a name with an @ in front, such as @patchwright, or a word "
                "with a slash, such as /fix"
            )
        return value

    @property
    def is_configured(self) -> bool:
        return bool(self.app_id or self.token or self.private_key)

    @property
    def is_own_server(self) -> bool:
        """Whether it is a server of one's own, which private networks may have."""
        return not _cloud_of(urlsplit(self.web_url).hostname or "")

    @property
    def has_set_mention(self) -> bool:
        return "mention" in self.model_fields_set

    @property
    def is_signed_by_github(self) -> bool:
        if self.commit_signing == "auto":
            return self.signing_key is None
        return self.commit_signing == "api"

    @property
    def commit_key(self) -> SecretStr | None:
        """The key that signs our commits, if one does."""
        return self.signing_key if self.commit_signing in ("auto", "ssh") else None

    @property
    def noreply_domain(self) -> str:
        """The mail domain for commits of an account that hides its address."""
        return f"users.noreply.{urlsplit(self.web_url).hostname}"


def _site_of(api_url: str) -> str:
    """Return the address for links and clones.

    A server has its API under `/api/v3`, the cloud on a host that starts with `api.`.
    https://docs.github.com/en/enterprise-server/rest/enterprise-admin
    """
    base = api_url.rstrip("/").removesuffix("/api/v3")
    scheme, host = urlsplit(base)[:2]
    return f"{scheme}://{host[4:]}" if host.startswith("api.") else base


def read_github_web(value: str) -> str:
    """Return the address of GitHub's pages, also where that of its API is given."""
    if not is_address(value):
        raise ValueError("expected an address such as https://HOST")
    root, host, path = address_parts(value)
    cloud = _cloud_of(host)
    right = f"https://{cloud}" if cloud else root
    if path not in ("", _SERVER_API):
        raise ValueError(
            f"the path {path} is not part of the site's address: use {right}"
        )
    return right


def _cloud_of(host: str) -> str:
    """Return the host of the cloud's pages, or nothing for a server."""
    name = host.removeprefix("api.").removeprefix("www.")
    return name if name == "github.com" or name.endswith(".ghe.com") else ""


def _is_server(host: str) -> bool:
    """Tell whether it is the name of a server, which has both on one host."""
    is_number = host.replace(".", "").isdecimal() or ":" in host
    return "." in host and not is_number and not host.startswith("api.")
