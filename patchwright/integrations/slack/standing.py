"""How we stand in a workspace of Slack: who we are there, and what we may do."""

from collections.abc import Mapping

from pydantic import SecretStr
from slack_sdk.web import SlackResponse

from patchwright.core.types.base import Value
from patchwright.integrations.slack.api import SlackClient
from patchwright.integrations.slack.errors import translate_errors
from patchwright.integrations.slack.manifest import SCOPES
from patchwright.integrations.slack.payloads import BotIdentity


class AppStatus(Value):
    """`scopes` is None where Slack does not tell them."""

    user: str
    team: str
    scopes: frozenset[str] | None = None


def fetch_app_status(api: SlackClient, team: str) -> AppStatus:
    """Ask as the app in a workspace. Raises the errors of `core.errors`."""
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
    told = next((v for k, v in headers.items() if k.lower() == "x-oauth-scopes"), None)
    if told is None:
        return None
    return frozenset(part.strip() for part in told.split(",") if part.strip())
