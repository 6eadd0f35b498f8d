"""Connect to one Jira, and tell what our user may do there."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from jira import JIRA

from patchwright.core.clock import Clock
from patchwright.core.settings.jira import JiraSettings
from patchwright.core.types.people import Actor
from patchwright.integrations.jira.channel import JiraChannel
from patchwright.integrations.jira.client import (
    CLOUD,
    DATA_CENTER,
    TIMEOUT_S,
    Deployment,
    JiraClient,
)
from patchwright.integrations.jira.responses import (
    JiraModel,
    JiraUser,
    JsonObject,
    parse_answer,
)
from patchwright.integrations.jira.search import search_updated
from patchwright.integrations.jira.webhooks.triggers import actor_of

# https://developer.atlassian.com/cloud/jira/platform/rest/v3/api-group-permissions/
NEEDED_PERMISSIONS: Final[Mapping[str, str]] = {
    "BROWSE_PROJECTS": "reading tickets",
    "ADD_COMMENTS": "answering",
    "EDIT_OWN_COMMENTS": "updating the status comment of a run",
    "LINK_ISSUES": "linking the pull request",
}
LABEL_PERMISSIONS: Final[Mapping[str, str]] = {"EDIT_ISSUES": "changing labels"}
TRANSITION_PERMISSIONS: Final[Mapping[str, str]] = {
    "TRANSITION_ISSUES": "moving tickets"
}


class _Permission(JiraModel):
    have_permission: bool = False


class _OwnPermissions(JiraModel):
    permissions: dict[str, _Permission]


def fetch_missing_permissions(
    api: JiraClient, project: str, needed: Mapping[str, str]
) -> tuple[str, ...]:
    """Return a line for every permission that is needed there and was not given.

    Raises `NotFoundError` where there is no such project, or we may not see it.
    """
    query = {"projectKey": project, "permissions": ",".join(needed)}
    mine = parse_answer(_OwnPermissions, api.get("mypermissions", query)).permissions
    return tuple(
        f"permission {name}: needed for {use}"
        for name, use in needed.items()
        if not mine.get(name, _Permission()).have_permission
    )


USER_AGENT = "patchwright"


@dataclass(frozen=True, slots=True)
class Jira:
    """One Jira, as a channel; close it when done."""

    api: JiraClient
    channel: JiraChannel

    def fetch_identity(self) -> Actor:
        """Return who we are there. Raises `ServiceError`."""
        person = parse_answer(JiraUser, self.api.get("myself"))
        return actor_of(person, self.api.host, person.id)

    def search_updated(
        self, since: datetime, projects: Iterable[str]
    ) -> Iterator[JsonObject]:
        """Yield the tickets changed since then, as deliveries would show them."""
        return search_updated(self.api, since, projects)

    def close(self) -> None:
        self.api.close()


def connect_jira(settings: JiraSettings, clock: Clock) -> Jira:
    """Act as the user whom the token belongs to; nothing is asked yet."""
    deployment = CLOUD if settings.flavour == "cloud" else DATA_CENTER
    api = JiraClient(_open(settings, deployment), deployment, settings.host, clock)
    return Jira(api, JiraChannel(api, settings))


def _open(settings: JiraSettings, deployment: Deployment) -> JIRA:
    token = settings.token.get_secret_value() if settings.token else ""
    return JIRA(
        options={
            "server": settings.base_url,
            "rest_api_version": deployment.version,
            "verify": settings.ca_bundle or True,
            "headers": {"User-Agent": USER_AGENT},
        },
        # A personal access token is nobody's password.
        # https://confluence.atlassian.com/enterprise/using-personal-access-tokens-1026032365.html
        basic_auth=(settings.user, token) if settings.user else None,
        token_auth=None if settings.user else token,
        get_server_info=False,
        # It waits between tries, by a clock of its own.
        max_retries=0,
        timeout=TIMEOUT_S,
    )
