"""Slack as a plug-in."""

from typing import Final

from patchwright.core.plugin import (
    Plugin,
    PluginCheck,
    SecretName,
    ServiceProfile,
    import_later,
)
from patchwright.core.settings.model import Settings

NAME: Final = "slack"
TITLE: Final = "Slack"


def describe(settings: Settings) -> ServiceProfile:
    return ServiceProfile(
        name=NAME,
        title=TITLE,
        is_configured=settings.slack.is_configured,
        repositories=settings.slack.channels,
        repositories_setting="slack.channels",
        private_host="slack.com",
        addresses={settings.slack.api_url: ""},
    )


PLUGIN: Final = Plugin(
    name=NAME,
    title=TITLE,
    describe=describe,
    installation_secret=lambda installation: SecretName(installation, NAME),
    host_word="workspace",
    checks=(PluginCheck("slack", 30), PluginCheck("slack-socket")),
    connect_chat=import_later("patchwright.integrations.slack.compose:connect"),
)
