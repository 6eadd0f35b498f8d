"""Put together what speaks to one GitHub, from its configured values."""

from dataclasses import dataclass

from pydantic import SecretStr

from patchwright.core.clock import Clock
from patchwright.core.types.people import Actor
from patchwright.integrations.github.addresses import Addresses
from patchwright.integrations.github.api import Api
from patchwright.integrations.github.auth import (
    AppTokens,
    GivenToken,
    TokenCache,
    Tokens,
)
from patchwright.integrations.github.channel import GitHubChannel
from patchwright.integrations.github.connection import Connection
from patchwright.integrations.github.forge import GitHubForge
from patchwright.integrations.github.webhook import SERVICE


@dataclass(frozen=True, slots=True)
class GitHub:
    """One GitHub, as a channel and as a forge; close it when done."""

    api: Api
    channel: GitHubChannel
    forge: GitHubForge

    def fetch_identity(self) -> Actor | None:
        """Return who we are there, or None if the token cannot say."""
        login = self.api.tokens.fetch_login()
        if not login:
            return None
        return Actor(service=SERVICE, login=login, is_bot=login.endswith("[bot]"))

    def close(self) -> None:
        self.api.close()


def connect_app(
    addresses: Addresses,
    app_id: str,
    private_key: SecretStr,
    *,
    cache: TokenCache,
    clock: Clock,
    pause_s: float = 1.0,
) -> GitHub:
    """Act as a GitHub App. `pause_s` is the least time between two writes."""
    connection = Connection(addresses, pause_s)
    tokens = AppTokens(
        app_id, private_key, connection=connection, cache=cache, clock=clock
    )
    return _compose(connection, tokens, clock)


def connect_token(
    addresses: Addresses, token: SecretStr, *, clock: Clock, pause_s: float = 1.0
) -> GitHub:
    """Act with a token of a person, a machine user or a workflow."""
    connection = Connection(addresses, pause_s)
    return _compose(connection, GivenToken(token, connection, clock), clock)


def _compose(connection: Connection, tokens: Tokens, clock: Clock) -> GitHub:
    api = Api(connection=connection, tokens=tokens, clock=clock)
    return GitHub(api, GitHubChannel(api), GitHubForge(api))
