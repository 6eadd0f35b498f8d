"""Connect to the GitLab that the settings name."""

import ssl
from collections.abc import Mapping

from patchwright.core.system.clock import Clock
from patchwright.core.types.errors import SettingsError
from patchwright.integrations.gitlab.adapter import GitLab, connect_token
from patchwright.integrations.gitlab.connection import GitLabAddresses, GitLabConnection
from patchwright.integrations.gitlab.settings import HOW_TO_CONFIGURE, GitLabSettings
from patchwright.integrations.http.oauth import OAuthAddresses, OAuthClient

# What we do in a person's name: read what they can read.
# https://docs.gitlab.com/integration/oauth_provider/#view-all-authorized-applications
PERSONAL_SCOPE = "read_api"


def connect_gitlab(settings: GitLabSettings, clock: Clock) -> GitLab:
    _check_authorities(settings.ca_bundle)
    if settings.token is None:
        raise SettingsError(f"gitlab: not configured; {HOW_TO_CONFIGURE}")
    return connect_token(
        GitLabAddresses(base_url=settings.base_url),
        settings.token,
        clock=clock,
        ca_bundle=settings.ca_bundle,
    )


def make_gitlab_connection(settings: GitLabSettings, clock: Clock) -> GitLabConnection:
    """Return how to reach that GitLab as somebody else than our user."""
    _check_authorities(settings.ca_bundle)
    addresses = GitLabAddresses(base_url=settings.base_url)
    return GitLabConnection(addresses, clock.now, settings.ca_bundle)


def make_oauth_client(settings: GitLabSettings, clock: Clock) -> OAuthClient:
    """Return our application there, with which people sign in.

    https://docs.gitlab.com/api/oauth2/#authorization-code-with-proof-key-for-code-exchange-pkce
    """
    _check_authorities(settings.ca_bundle)
    root = f"{settings.base_url}/oauth"
    secret = settings.client_secret
    if not settings.client_id or secret is None:
        raise SettingsError(
            "gitlab.client_id and gitlab.client_secret: not set; nobody can sign in "
            "with GitLab without them"
        )
    return OAuthClient(
        title="GitLab",
        section="gitlab",
        addresses=OAuthAddresses(
            authorize=f"{root}/authorize",
            token=f"{root}/token",
            revoke=f"{root}/revoke",
        ),
        client_id=settings.client_id,
        client_secret=secret,
        scope=PERSONAL_SCOPE,
        clock=clock,
        verify=settings.ca_bundle or True,
        authorities_setting="gitlab.ca_bundle",
    )


def trust_for_git(settings: GitLabSettings) -> Mapping[str, str]:
    """Return the environment in which git trusts the configured authorities.

    https://git-scm.com/docs/git-config#Documentation/git-config.txt-httpsslCAInfo
    """
    return {"GIT_SSL_CAINFO": settings.ca_bundle} if settings.ca_bundle else {}


def _check_authorities(ca_bundle: str) -> None:
    if not ca_bundle:
        return
    try:
        ssl.create_default_context(cafile=ca_bundle)
    except OSError as error:
        raise SettingsError(
            f"gitlab.ca_bundle: {ca_bundle} is not a file with PEM certificates: "
            f"{error.strerror or error}"
        ) from error
