"""The settings of the servers that bring tools over the Model Context Protocol."""

import json
import re
from difflib import get_close_matches
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, SecretStr, field_validator, model_validator

from patchwright.core.settings.fields import SettingsSection

# Tools are called SERVER__TOOL, in what all providers take as a name.
_SERVER_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}\Z")
_VARIABLE_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
# https://www.rfc-editor.org/rfc/rfc9110#name-tokens
_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
_HEADER_VALUE: Final = re.compile(r"[\t\x20-\x7e]*\Z")
_OURS: Final = frozenset({"host", "content-length", "transfer-encoding"})


_FORMER_TIMEOUT: Final = "timeout_s"


def _without_former_name(data: dict[str, Any]) -> dict[str, Any]:
    if _FORMER_TIMEOUT not in data:
        return data
    if "timeout_seconds" in data:
        raise ValueError("`timeout_s` is now `timeout_seconds`; remove `timeout_s`")
    rest = {key: value for key, value in data.items() if key != _FORMER_TIMEOUT}
    return {**rest, "timeout_seconds": data[_FORMER_TIMEOUT], "has_former_name": True}


class McpServerSettings(SettingsSection):
    """A server: a command in the sandbox, or an address that the service calls.

    `has_former_name` cannot be set: it tells that a key was written by its former name.
    """

    command: tuple[str, ...] = ()
    url: str = ""
    env: dict[str, str] = {}
    headers: dict[str, SecretStr] = {}
    tools: tuple[str, ...] = ()
    timeout_seconds: float = Field(60.0, gt=0, le=3600)
    has_former_name: bool = Field(default=False, exclude=True)

    @property
    def host(self) -> str:
        """The host of `url`, in lower case; empty for a command."""
        return (urlsplit(self.url).hostname or "").lower()

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, data: Any) -> Any:  # noqa: ANN401 - as pydantic hands it
        if not isinstance(data, dict):
            raise ValueError("not a table; write one with `command` or with `url`")  # noqa: TRY004 - pydantic takes no other
        known = [name for name, one in cls.model_fields.items() if not one.exclude]
        for key in data.keys() - {*known, _FORMER_TIMEOUT}:
            nearest = get_close_matches(str(key), known, n=1, cutoff=0.0)
            raise ValueError(
                f"unknown key {key}; the nearest known one is {nearest[0]}"
            )
        return _without_former_name(data)

    @field_validator("url")
    @classmethod
    def _check_url(cls, value: str) -> str:
        parts = urlsplit(value)
        if value and (parts.scheme not in {"http", "https"} or not parts.hostname):
            raise ValueError("not an http:// or https:// address")
        if parts.username or parts.password:
            raise ValueError("contains a credential; put it into `headers`")
        return value

    @field_validator("env")
    @classmethod
    def _check_env(cls, value: dict[str, str]) -> dict[str, str]:
        for name in value:
            if not _VARIABLE_NAME.match(name):
                raise ValueError(f"{name!r} is not a valid name for a variable")
        return value

    @field_validator("headers")
    @classmethod
    def _check_headers(cls, value: dict[str, SecretStr]) -> dict[str, SecretStr]:
        for name, secret in value.items():
            if not _HEADER_NAME.match(name) or name.lower() in _OURS:
                raise ValueError(f"{name!r} is not a header that can be set")
            if not _HEADER_VALUE.match(secret.get_secret_value()):
                raise ValueError(f"the value of {name} is not one line of ASCII")
        return value

    @model_validator(mode="after")
    def _check_kind(self) -> "McpServerSettings":
        if bool(self.command) == bool(self.url):
            raise ValueError("set either `command` or `url`")
        if self.command and not all(self.command[:1]):
            raise ValueError("`command` starts with an empty string")
        if self.url and self.env:
            raise ValueError(
                "`env` works only with a `command`; use `headers` with a `url`"
            )
        if self.command and self.headers:
            raise ValueError(
                "`headers` work only with a `url`; use `env` with a `command`"
            )
        return self


def _read_json(value: Any) -> Any:  # noqa: ANN401 - whatever a file or variable held
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except json.JSONDecodeError:
        raise ValueError('not JSON; write {"NAME": {"command": ["..."]}}') from None


_MEANING: Final = """\
Tables `[mcp.servers.NAME]`, each with `command` (a list; runs in the sandbox, with the
plain values of `env`) or `url` (streamable HTTP, called by the service with the secret
`headers`; its host must be in `sandbox.allow_domains`), and with `tools` (the names to
offer; empty: all) and `timeout_seconds` (of a call; 60).""".replace("\n", " ")
_Servers = Annotated[dict[str, McpServerSettings], BeforeValidator(_read_json)]


class McpSettings(SettingsSection):
    """Servers that offer tools to the agent over the Model Context Protocol."""

    servers: _Servers = Field({}, description=_MEANING)

    @field_validator("servers")
    @classmethod
    def _check_names(
        cls, value: dict[str, McpServerSettings]
    ) -> dict[str, McpServerSettings]:
        for name in value:
            if not _SERVER_NAME.match(name) or "__" in name:
                raise ValueError(
                    f"{name!r} is not a valid name for a server: use a letter and "
                    "then up to 31 letters, digits, hyphens and single underscores"
                )
        return value
