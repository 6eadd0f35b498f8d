"""Jira as a plug-in."""

from typing import Final

from patchwright.core.doctor import DoctorCheck
from patchwright.core.plugin import Plugin, ServiceProfile, TicketMoves, import_later
from patchwright.core.settings.model import Settings
from patchwright.integrations.jira.settings import JiraSettings, review_settings

NAME: Final = "jira"
TITLE: Final = "Jira"
_DOCTOR: Final = "patchwright.integrations.jira.doctor"


def describe(settings: Settings) -> ServiceProfile:
    jira = JiraSettings.of(settings)
    return ServiceProfile(
        name=NAME,
        title=TITLE,
        is_configured=jira.is_configured,
        web_url=jira.base_url,
        mention=jira.mention,
        label=jira.label,
        repositories=jira.projects,
        repositories_setting="jira.projects",
        ticket_host=jira.host,
        ticket_url=f"{jira.base_url}/browse/{{id}}",
        ticket_moves=TicketMoves(
            on_start=jira.transitions.on_start,
            on_pull=jira.transitions.on_pr,
            on_merge=jira.transitions.on_merge,
        ),
        private_host=jira.host.partition("/")[0],
        addresses={jira.base_url: jira.ca_bundle},
        authorities_setting="jira.ca_bundle",
    )


PLUGIN: Final = Plugin(
    name=NAME,
    title=TITLE,
    describe=describe,
    section=JiraSettings,
    review_settings=review_settings,
    first_settings=("jira.base_url", "jira.user", "jira.token", "jira.webhook_secret"),
    checks=(
        DoctorCheck("jira", import_later(f"{_DOCTOR}:check_jira")),
        DoctorCheck("jira-projects", import_later(f"{_DOCTOR}:check_projects"), 30),
    ),
    connect_chat=import_later("patchwright.integrations.jira.compose:connect"),
)
