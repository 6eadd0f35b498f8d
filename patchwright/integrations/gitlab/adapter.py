"""Connect to one GitLab with a token, as a channel and as a forge."""

from dataclasses import dataclass

from pydantic import SecretStr

from patchwright.core.system.clock import Clock
from patchwright.core.types.people import Actor
from patchwright.integrations.gitlab.auth import GitLabToken
from patchwright.integrations.gitlab.channel import GitLabChannel
from patchwright.integrations.gitlab.client import GitLabClient
from patchwright.integrations.gitlab.connection import GitLabAddresses, GitLabConnection
from patchwright.integrations.gitlab.forge import GitLabForge


@dataclass(frozen=True, slots=True)
class GitLab:
    """One GitLab, as a channel and as a forge; close it when done."""

    api: GitLabClient
    channel: GitLabChannel
    forge: GitLabForge

    def fetch_identity(self) -> Actor:
        """Return who we are there."""
        return self.api.own_user.actor

    def fetch_missing(self) -> tuple[str, ...]:
        """Return a line for everything that we need there and were not given."""
        return self.api.token.fetch_missing()

    def close(self) -> None:
        self.api.close()


def connect_token(
    addresses: GitLabAddresses, token: SecretStr, *, clock: Clock, ca_bundle: str = ""
) -> GitLab:
    """Act with a token of a user, a service account, a project or a group."""
    connection = GitLabConnection(addresses, clock.now, ca_bundle)
    api = GitLabClient(
        connection=connection, token=GitLabToken(token, connection), clock=clock
    )
    return GitLab(api, GitLabChannel(api), GitLabForge(api))
