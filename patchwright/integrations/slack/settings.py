"""The settings of Slack: one workspace by token, or an app that many install."""

import re
from collections.abc import Iterator
from typing import Annotated, Final

from pydantic import AfterValidator, Field, SecretStr, field_validator

from patchwright.core.doctor import SettingsReview
from patchwright.core.settings.fields import (
    Secrets,
    SettingsSection,
    address_parts,
    read_address,
    read_repositories,
)
from patchwright.core.settings.model import Settings, missing_setting

SLACK_API: Final = "https://slack.com/api"
_COMMAND = re.compile(r"/[a-z0-9_-]{1,31}\Z")
_WORKSPACE = re.compile(r"[TE][A-Z0-9]+\Z")
ANY_WORKSPACE = "*"


def read_slack_api(value: str) -> str:
    """Return the address of Slack's Web API; a workspace has none of its own."""
    address = read_address(value)
    _root, host, path = address_parts(address)
    if host != "slack.com" and not host.endswith(".slack.com"):
        return address
    if path not in ("", "/api"):
        raise ValueError(
            f"the path {path} is not part of the API's address: use {SLACK_API}"
        )
    return SLACK_API


class SlackSettings(SettingsSection):
    """How to reach Slack, and which repository a channel is about."""

    api_url: Annotated[str, AfterValidator(read_slack_api)] = Field(
        SLACK_API, description="Address of Slack's Web API."
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
        "Slack needs no address of this service.",
    )
    client_id: str = Field(
        "", description="Client id of the app, for workspaces that install it."
    )
    client_secret: SecretStr | None = Field(
        None, description="Client secret of the app, for the same."
    )
    workspaces: tuple[str, ...] = Field(
        (),
        description="Ids of the workspaces or organizations that may install the app "
        "(`T0123456789`); `*` lets everybody who knows the address install it.",
    )
    command: str = Field("/patchwright", description="The slash command.")
    channels: Annotated[dict[str, str], AfterValidator(read_repositories)] = Field(
        {}, description="Channel ids and the repository that each is about."
    )

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

    def may_install(self, workspace: str) -> bool:
        return workspace in self.workspaces or ANY_WORKSPACE in self.workspaces

    @property
    def is_configured(self) -> bool:
        return bool(self.bot_token or self.client_id or self.app_token)


def review_settings(settings: Settings) -> SettingsReview:
    slack = SlackSettings.of(settings)
    return SettingsReview(
        errors=tuple(_slack_errors(slack)),
        addresses={"slack.api_url": slack.api_url},
    )


def _slack_errors(slack: SlackSettings) -> Iterator[str]:
    if slack.is_configured and not (slack.signing_secret or slack.app_token):
        yield missing_setting(
            ("slack", "signing_secret"), "without it anybody could send webhooks"
        )
    if slack.signing_secret and not (slack.bot_token or slack.client_id):
        yield missing_setting(
            ("slack", "bot_token"),
            "webhooks arrive but the bot cannot answer; or set a client_id",
        )
    if slack.app_token and not slack.bot_token:
        yield missing_setting(
            ("slack", "bot_token"), "Socket Mode needs the token of its one workspace"
        )
    if slack.client_id and not slack.client_secret:
        yield missing_setting(
            ("slack", "client_secret"), "no workspace can install the app without it"
        )
