"""Put together what keeps people's tokens."""

from pydantic import SecretStr

from patchwright.core.clock import Clock
from patchwright.core.settings.github import GitHubSettings
from patchwright.integrations.github.reading.listening import SERVICE
from patchwright.integrations.github.user_tokens import UserTokens
from patchwright.workers.connections import make_github_connection
from patchwright.workers.db.database import Database
from patchwright.workers.store.identity_tokens import IdentityTokens
from patchwright.workers.store.secrets import SecretStore


def make_user_tokens(settings: GitHubSettings, clock: Clock) -> UserTokens:
    return UserTokens(
        make_github_connection(settings),
        settings.client_id,
        settings.client_secret or SecretStr(""),
        clock,
    )


def make_identity_tokens(
    settings: GitHubSettings, database: Database, secrets: SecretStore, clock: Clock
) -> IdentityTokens:
    """Return the tokens of GitHub's people; without a client id none is renewed."""
    return IdentityTokens(
        database,
        secrets,
        make_user_tokens(settings, clock).renew,
        clock,
        service=SERVICE,
        host=settings.api_url,
    )
