"""Jira as a plug-in."""

from typing import Final

from patchwright.core.plugin import Plugin, ServiceProfile, import_later
from patchwright.core.settings.model import Settings

NAME: Final = "jira"
TITLE: Final = "Jira"


def describe(settings: Settings) -> ServiceProfile:
    return ServiceProfile(
        name=NAME,
        title=TITLE,
        is_configured=settings.jira.is_configured,
        web_url=settings.jira.base_url,
        mention=settings.jira.mention,
        label=settings.jira.label,
        repositories=settings.jira.projects,
        repositories_setting="jira.projects",
    )


PLUGIN: Final = Plugin(
    name=NAME,
    title=TITLE,
    describe=describe,
    connect_chat=import_later("patchwright.integrations.jira.compose:connect"),
)
