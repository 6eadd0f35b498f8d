"""The settings of Slack: one workspace by token, or an app that many install."""

import re

from pydantic import Field, SecretStr, field_validator

from patchwright.core.settings.addresses import read_address, read_repositories
from patchwright.core.settings.secret_types import Secrets
from patchwright.core.settings.section import Section

_COMMAND = re.compile(r"/[a-z0-9_-]{1,31}\Z")


class SlackSettings(Section):
    """How to reach Slack, and which repository a channel is about."""

    api_url: str = Field(
        "https://slack.com/api", description="Address of Slack's Web API."
    )
    bot_token: SecretStr | None = Field(
        None, description="Bot token (`xoxb-`) of the one workspace it serves."
    )
    signing_secret: Secrets = Field(
        (),
        description="Signs deliveries; two, separated by a comma, while it is changed.",
    )
    app_token: SecretStr | None = Field(
        None,
        description="App-level token (`xapp-`): deliveries come by Socket Mode, and "
        "no address of ours need be reachable.",
    )
    client_id: str = Field(
        "", description="Client id of the app, for workspaces that install it."
    )
    client_secret: SecretStr | None = Field(
        None, description="Client secret of the app, for the same."
    )
    command: str = Field("/patchwright", description="The slash command.")
    channels: dict[str, str] = Field(
        {}, description="Channel ids and the repository that each is about."
    )

    @field_validator("api_url")
    @classmethod
    def _read_api_url(cls, value: str) -> str:
        return read_address(value)

    @field_validator("command")
    @classmethod
    def _read_command(cls, value: str) -> str:
        if not _COMMAND.match(value):
            raise ValueError("expected a command such as /patchwright")
        return value

    @field_validator("channels")
    @classmethod
    def _read_channels(cls, value: dict[str, str]) -> dict[str, str]:
        return read_repositories(value)

    @property
    def is_configured(self) -> bool:
        return bool(self.bot_token or self.client_id or self.app_token)
