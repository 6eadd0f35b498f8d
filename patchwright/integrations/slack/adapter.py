"""Connect to Slack, and tell who we are in a workspace and what we may do."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import SecretStr
from slack_sdk.web import SlackResponse

from patchwright.core.plugin_host import PersonSummary
from patchwright.core.system.clock import Clock
from patchwright.core.types.base import Value
from patchwright.core.types.people import Actor
from patchwright.core.types.triggers import FormRequest
from patchwright.integrations.slack.app import SCOPES
from patchwright.integrations.slack.channel import SlackChannel
from patchwright.integrations.slack.client import SlackClient
from patchwright.integrations.slack.errors import translate_errors
from patchwright.integrations.slack.responses import BotIdentity
from patchwright.integrations.slack.text.actions import SERVICE
from patchwright.integrations.slack.threads import UserNames
from patchwright.integrations.slack.tokens import BotTokens
from patchwright.integrations.slack.views import open_form, publish_home


class AppStatus(Value):
    """`scopes` is None where Slack does not tell them."""

    user: str
    team: str
    scopes: frozenset[str] | None = None


def fetch_app_status(api: SlackClient, team: str) -> AppStatus:
    """Ask as the app in a workspace. Raises the errors of `core.types.errors`."""
    client = api.open_client(api.tokens.token_of(team))
    with translate_errors(api.clock):
        answer = client.auth_test()
        own = BotIdentity.model_validate(answer.data)
    return AppStatus(user=own.user, team=own.team, scopes=_scopes(answer))


def missing_scopes(standing: AppStatus) -> tuple[str, ...]:
    """Return the scopes that we need and the token has not."""
    if standing.scopes is None:
        return ()
    return tuple(sorted(set(SCOPES) - standing.scopes))


def try_connection(api: SlackClient, app_token: SecretStr) -> None:
    """Ask for a connection of Socket Mode, and leave it at that.

    https://docs.slack.dev/reference/methods/apps.connections.open
    """
    with translate_errors(api.clock):
        api.open_client().apps_connections_open(app_token=app_token.get_secret_value())


def _scopes(answer: SlackResponse) -> frozenset[str] | None:
    headers: Mapping[str, str] = answer.headers
    header = next(
        (v for k, v in headers.items() if k.lower() == "x-oauth-scopes"), None
    )
    if header is None:
        return None
    return frozenset(part.strip() for part in header.split(",") if part.strip())


@dataclass(frozen=True, slots=True)
class Slack:
    """Slack as a channel, with the pages and forms that it has besides."""

    api: SlackClient
    channel: SlackChannel
    people: UserNames

    def open_form(self, wanted: FormRequest) -> None:
        open_form(self.api, wanted)

    def publish_home(
        self, actor: Actor, installation: str, facts: PersonSummary
    ) -> None:
        publish_home(self.api, actor, installation, facts)

    def name_person(self, actor: Actor) -> Actor:
        """Return them by the name that others see in their workspace."""
        name = self.people.name_of(actor.host, actor.external_id)
        return actor.replace(login=name)

    def fetch_identity(self, installation: str) -> Actor:
        """Return who we are in that workspace."""
        own = self.api.identity(installation)
        return Actor(
            service=SERVICE,
            login=own.user,
            external_id=own.user_id,
            is_bot=True,
            host=own.team_id,
        )


def connect(api_url: str, *, tokens: BotTokens, clock: Clock) -> Slack:
    """Write for the app in every workspace that `tokens` has a token for."""
    api = SlackClient(api_url, tokens=tokens, clock=clock)
    people = UserNames(api)
    return Slack(api, SlackChannel(api, people), people)
