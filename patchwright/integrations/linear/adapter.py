"""Connect to Linear, and tell who we are in a workspace and what we may do."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from patchwright.core.system.clock import Clock
from patchwright.core.types.people import Actor
from patchwright.integrations.linear.channel import LinearChannel
from patchwright.integrations.linear.client import LinearClient
from patchwright.integrations.linear.settings import LinearSettings
from patchwright.integrations.linear.tokens import LinearTokens
from patchwright.integrations.linear.webhooks.payloads import (
    SERVICE,
    LinearModel,
    LinearWorkspace,
    PageEnd,
    TeamPayload,
)

TEAMS_QUERY: Final = """
query Teams($after: String) {
  teams(first: 100, after: $after) {
    nodes { id key name }
    pageInfo { hasNextPage endCursor }
  }
}
"""
PROJECTS_QUERY: Final = """
query Projects($team: String!) {
  team(id: $team) { id projects(first: 100) { nodes { id name } } }
}
"""
MAX_PAGES: Final = 10


class _Teams(LinearModel):
    nodes: tuple[TeamPayload, ...] = ()
    page_info: PageEnd = PageEnd()


class _TeamsAnswer(LinearModel):
    teams: _Teams


class _Project(LinearModel):
    id: str
    name: str


class _Projects(LinearModel):
    nodes: tuple[_Project, ...] = ()


class _TeamProjects(LinearModel):
    id: str
    projects: _Projects = _Projects()


class _ProjectsAnswer(LinearModel):
    team: _TeamProjects


@dataclass(frozen=True, slots=True)
class Linear:
    """Linear as a channel, in every workspace that there is a token for."""

    api: LinearClient
    channel: LinearChannel

    def fetch_workspace(self, url_key: str = "") -> LinearWorkspace:
        """Return a workspace as our token shows it. Raises `ServiceError`."""
        return self.api.identity(url_key)

    def fetch_identity(self, url_key: str = "") -> Actor:
        """Return who we are there. Raises `ServiceError`."""
        own = self.fetch_workspace(url_key)
        return Actor(
            service=SERVICE,
            login=own.own_name,
            external_id=own.own_id,
            is_bot=True,
            host=own.url_key,
        )

    def fetch_teams(self, url_key: str) -> tuple[TeamPayload, ...]:
        """Return the teams that we may see."""
        found: list[TeamPayload] = []
        after: str | None = None
        for _ in range(MAX_PAGES):
            teams = self.api.read(
                url_key, _TeamsAnswer, TEAMS_QUERY, {"after": after}
            ).teams
            found += teams.nodes
            after = teams.page_info.end_cursor
            if not teams.page_info.has_next_page or after is None:
                break
        return tuple(found)

    def fetch_projects(
        self, url_key: str, teams: Iterable[TeamPayload]
    ) -> frozenset[str]:
        """Return the names of the teams' projects."""
        answers = (
            self.api.read(url_key, _ProjectsAnswer, PROJECTS_QUERY, {"team": one.id})
            for one in teams
        )
        return frozenset(
            project.name for one in answers for project in one.team.projects.nodes
        )


def connect_linear(
    settings: LinearSettings, tokens: LinearTokens, clock: Clock
) -> Linear:
    """Act with these tokens; nothing is asked yet."""
    api = LinearClient(settings.api_url, tokens, clock)
    return Linear(api, LinearChannel(api, settings))
