"""The settings of Slack: one workspace by token, or an app that many install."""

import re

from pydantic import Field, SecretStr, field_validator

from patchwright.core.settings.fields import (
    Secrets,
    SettingsSection,
    read_repositories,
    read_slack_api,
)

_COMMAND = re.compile(r"/[a-z0-9_-]{1,31}\Z")
_WORKSPACE = re.compile(r"[TE][A-Z0-9]+\Z")
ANY_WORKSPACE = "*"


class SlackSettings(SettingsSection):
    """How to reach Slack, and which repository a channel is about."""

    api_url: str = Field(
        "https://slack.com/api", description="Address of Slack's Web API."
    )
    bot_token: SecretStr | None = Field(
        None,
        description="Bot token (`xoxb-`) of the one workspace that the service serves.",
    )
    signing_secret: Secrets = Field(
        (),
        description="Secret that signs webhooks; while you change it, set both, "
        "separated by a comma.",
    )
    app_token: SecretStr | None = Field(
        None,
        description="App-level token (`xapp-`) for Socket Mode: the service opens the "
        "connection and needs no public address.",
    )
    client_id: str = Field(
        "", description="Client id of the app, for workspaces that install it."
    )
    client_secret: SecretStr | None = Field(
        None, description="Client secret of the app, for workspaces that install it."
    )
    workspaces: tuple[str, ...] = Field(
        (),
        description="Ids of the workspaces or organizations that may install the app "
        "(`T0123456789`); `*` lets everybody who knows the address install it.",
    )
    command: str = Field("/patchwright", description="The slash command.")
    channels: dict[str, str] = Field(
        {}, description="Channel ids and the repository of each."
    )

    @field_validator("api_url")
    @classmethod
    def _read_api_url(cls, value: str) -> str:
        return read_slack_api(value)

    @field_validator("command")
    @classmethod
    def _read_command(cls, value: str) -> str:
        if not _COMMAND.match(value):
            raise ValueError("expected a command such as /patchwright")
        return value

    @field_validator("workspaces")
    @classmethod
    def _read_workspaces(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for one in value:
            if one != ANY_WORKSPACE and not _WORKSPACE.match(one):
                raise ValueError(f"{one!r}: expected an id such as T0123456789, or *")
        return value

    @field_validator("channels")
    @classmethod
    def _read_channels(cls, value: dict[str, str]) -> dict[str, str]:
        return read_repositories(value)

    def may_install(self, workspace: str) -> bool:
        return workspace in self.workspaces or ANY_WORKSPACE in self.workspaces

    @property
    def is_configured(self) -> bool:
        return bool(self.bot_token or self.client_id or self.app_token)
