"""Put together what speaks to one GitHub, from its configured values."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from pydantic import SecretStr

from patchwright.core.clock import Clock
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.github.addresses import Addresses
from patchwright.integrations.github.api import GitHubClient
from patchwright.integrations.github.auth import (
    AppTokens,
    StaticToken,
    TokenCache,
)
from patchwright.integrations.github.channel import GitHubChannel
from patchwright.integrations.github.connection import GitHubConnection
from patchwright.integrations.github.deliveries import Hook, find_hook
from patchwright.integrations.github.forge import GitHubForge
from patchwright.integrations.github.webhook import SERVICE

# How the token of a workflow's run begins. What it pushes starts no other workflow.
# https://docs.github.com/en/actions/concepts/security/github_token
_OF_A_WORKFLOW: Final = "ghs_"


@dataclass(frozen=True, slots=True)
class GitHub:
    """One GitHub, as a channel and as a forge; close it when done."""

    api: GitHubClient
    channel: GitHubChannel
    forge: GitHubForge
    app: AppTokens | None = None
    starts_no_checks: bool = False

    def find_hooks(self, url: str, repos: Iterable[RepoRef]) -> Iterator[Hook]:
        """Yield the webhooks that bring us deliveries.

        That is the App's, or else those of the repositories that call `url`.
        """
        if self.app is not None:
            yield Hook("/app/hook", self.app.call)
            return
        for repo in repos:
            if hook := find_hook(self.api, repo, url):
                yield hook

    def fetch_identity(self) -> Actor | None:
        """Return who we are there, or None if the token cannot say."""
        login = self.api.tokens.fetch_login()
        if not login:
            return None
        return Actor(service=SERVICE, login=login, is_bot=login.endswith("[bot]"))

    def fetch_missing(self) -> tuple[str, ...]:
        """Return a line for everything that we need there and were not given."""
        return self.api.tokens.fetch_missing()

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
    ca_bundle: str = "",
) -> GitHub:
    """Act as a GitHub App. `pause_s` is the least time between two writes."""
    connection = GitHubConnection(addresses, pause_s, ca_bundle)
    tokens = AppTokens(
        app_id, private_key, connection=connection, cache=cache, clock=clock
    )
    api = GitHubClient(connection=connection, tokens=tokens, clock=clock)
    return GitHub(api, GitHubChannel(api), GitHubForge(api), tokens)


def connect_token(
    addresses: Addresses,
    token: SecretStr,
    *,
    clock: Clock,
    pause_s: float = 1.0,
    ca_bundle: str = "",
) -> GitHub:
    """Act with a token of a person, a machine user or a workflow."""
    connection = GitHubConnection(addresses, pause_s, ca_bundle)
    tokens = StaticToken(token, connection, clock)
    api = GitHubClient(connection=connection, tokens=tokens, clock=clock)
    return GitHub(
        api,
        GitHubChannel(api),
        GitHubForge(api),
        starts_no_checks=token.get_secret_value().startswith(_OF_A_WORKFLOW),
    )
