"""Jira as a plug-in."""

from typing import Final

from patchwright.core.doctor import DoctorCheck
from patchwright.core.plugin import (
    Plugin,
    ServiceProfile,
    SetupStep,
    TicketMoves,
    import_later,
)
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


def setup_steps(_settings: Settings) -> tuple[SetupStep, ...]:
    return (
        SetupStep(
            text="Make a user for the bot that may browse the projects, comment, and "
            "link issues. As that user, make an API token.",
            link="https://id.atlassian.com/manage-profile/security/api-tokens",
            link_title="API tokens at Atlassian",
        ),
        SetupStep(
            text="As an administrator of Jira, make a webhook under System, WebHooks: "
            "the URL below, a secret, and the events of issues and comments."
        ),
    )


PLUGIN: Final = Plugin(
    name=NAME,
    title=TITLE,
    describe=describe,
    section=JiraSettings,
    review_settings=review_settings,
    first_settings=("jira.base_url", "jira.user", "jira.token", "jira.webhook_secret"),
    setup_steps=setup_steps,
    checks=(
        DoctorCheck("jira", import_later(f"{_DOCTOR}:check_jira")),
        DoctorCheck("jira-projects", import_later(f"{_DOCTOR}:check_projects"), 30),
    ),
    connect_chat=import_later("patchwright.integrations.jira.compose:connect"),
)
