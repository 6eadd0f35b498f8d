"""Slack as a plug-in."""

from typing import Final

from patchwright.core.doctor import DoctorCheck
from patchwright.core.plugin import Plugin, ServiceProfile, import_later
from patchwright.core.plugin_host import SecretName
from patchwright.core.settings.model import Settings

NAME: Final = "slack"
TITLE: Final = "Slack"
_DOCTOR: Final = "patchwright.integrations.slack.doctor"


def describe(settings: Settings) -> ServiceProfile:
    return ServiceProfile(
        name=NAME,
        title=TITLE,
        is_configured=settings.slack.is_configured,
        repositories=settings.slack.channels,
        repositories_setting="slack.channels",
        private_host="slack.com",
        addresses={settings.slack.api_url: ""},
        needs_address=bool(settings.slack.client_id),
    )


PLUGIN: Final = Plugin(
    name=NAME,
    title=TITLE,
    describe=describe,
    installation_secret=lambda installation: SecretName(installation, NAME),
    host_word="workspace",
    checks=(
        DoctorCheck("slack", import_later(f"{_DOCTOR}:check_slack"), 30),
        DoctorCheck("slack-socket", import_later(f"{_DOCTOR}:check_socket")),
    ),
    connect_chat=import_later("patchwright.integrations.slack.compose:connect"),
)
