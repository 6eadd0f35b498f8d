"""Slack as a plug-in."""

from typing import Final

from patchwright.core.doctor import DoctorCheck
from patchwright.core.plugin import Plugin, ServiceProfile, import_later
from patchwright.core.plugin_host import SecretName
from patchwright.core.settings.model import Settings
from patchwright.integrations.slack.settings import SlackSettings, review_settings

NAME: Final = "slack"
TITLE: Final = "Slack"
_DOCTOR: Final = "patchwright.integrations.slack.doctor"


def describe(settings: Settings) -> ServiceProfile:
    slack = SlackSettings.of(settings)
    return ServiceProfile(
        name=NAME,
        title=TITLE,
        is_configured=slack.is_configured,
        repositories=slack.channels,
        repositories_setting="slack.channels",
        private_host="slack.com",
        addresses={slack.api_url: ""},
        needs_address=bool(slack.client_id),
    )


PLUGIN: Final = Plugin(
    name=NAME,
    title=TITLE,
    describe=describe,
    section=SlackSettings,
    review_settings=review_settings,
    installation_secret=lambda installation: SecretName(installation, NAME),
    host_word="workspace",
    first_settings=("slack.bot_token", "slack.signing_secret"),
    setup_steps=import_later("patchwright.integrations.slack.app:setup_steps"),
    checks=(
        DoctorCheck("slack", import_later(f"{_DOCTOR}:check_slack"), 30),
        DoctorCheck("slack-socket", import_later(f"{_DOCTOR}:check_socket")),
    ),
    connect_chat=import_later("patchwright.integrations.slack.compose:connect"),
)
