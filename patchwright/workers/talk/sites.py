"""The services without code that the settings name, connected."""

from collections.abc import Mapping
from dataclasses import dataclass

from patchwright.core.channel import Board
from patchwright.core.clock import Clock
from patchwright.core.settings.model import Settings
from patchwright.integrations.jira.adapter import Jira, connect_jira
from patchwright.integrations.slack.adapter import Slack
from patchwright.integrations.slack.adapter import connect as connect_slack
from patchwright.integrations.slack.tokens import GivenToken, Tokens
from patchwright.workers.store.installations import StoredInstallations
from patchwright.workers.store.secrets import SecretStore


@dataclass(frozen=True)
class Sites:
    """Each is None where it is not configured; close them when done."""

    slack: Slack | None = None
    jira: Jira | None = None

    @property
    def boards(self) -> Mapping[str, Board]:
        boards: dict[str, Board] = {}
        if self.slack is not None:
            boards["slack"] = self.slack.channel
        if self.jira is not None:
            boards["jira"] = self.jira.channel
        return boards

    def close(self) -> None:
        if self.jira is not None:
            self.jira.close()


def connect_sites(settings: Settings, secrets: SecretStore, clock: Clock) -> Sites:
    slack, jira = settings.slack, settings.jira
    return Sites(
        slack=connect_slack(
            slack.api_url, tokens=_slack_tokens(settings, secrets), clock=clock
        )
        if slack.is_configured
        else None,
        jira=connect_jira(jira, clock) if jira.is_configured else None,
    )


def _slack_tokens(settings: Settings, secrets: SecretStore) -> Tokens:
    """Serve the one workspace whose token is set, or those that install the app."""
    given = settings.slack.bot_token
    return GivenToken(given) if given else StoredInstallations(secrets)
