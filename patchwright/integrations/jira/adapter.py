"""Put together what speaks to one Jira, from its configured values."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from jira import JIRA

from patchwright.core.clock import Clock
from patchwright.core.settings.jira import JiraSettings
from patchwright.core.types.people import Actor
from patchwright.integrations.jira.answers import JsonObject, JiraUser, parse_answer
from patchwright.integrations.jira.api import TIMEOUT_S, JiraClient
from patchwright.integrations.jira.channel import JiraChannel
from patchwright.integrations.jira.flavour import CLOUD, DATA_CENTER, Deployment
from patchwright.integrations.jira.people import actor_of
from patchwright.integrations.jira.search import search_updated

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
    flavour = CLOUD if settings.flavour == "cloud" else DATA_CENTER
    api = JiraClient(_open(settings, flavour), flavour, settings.host, clock)
    return Jira(api, JiraChannel(api, settings))


def _open(settings: JiraSettings, flavour: Deployment) -> JIRA:
    token = settings.token.get_secret_value() if settings.token else ""
    return JIRA(
        options={
            "server": settings.base_url,
            "rest_api_version": flavour.version,
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
