"""Connect to the GitHub that the settings name."""

import ssl
from collections.abc import Mapping
from urllib.parse import urlsplit

from patchwright.core.system.clock import Clock
from patchwright.core.types.errors import SettingsError
from patchwright.integrations.github.adapter import (
    GitHub,
    connect_app,
    connect_token,
)
from patchwright.integrations.github.auth import TokenCache
from patchwright.integrations.github.connection import GitHubConnection, locate
from patchwright.integrations.github.settings import HOW_TO_CONFIGURE, GitHubSettings


def connect_github(settings: GitHubSettings, cache: TokenCache, clock: Clock) -> GitHub:
    addresses = locate(settings.api_url, settings.web_url)
    pause_s = _pause_s(settings.api_url)
    _check_authorities(settings.ca_bundle)
    if settings.app_id and settings.private_key is not None:
        return connect_app(
            addresses,
            settings.app_id,
            settings.private_key,
            cache=cache,
            clock=clock,
            pause_s=pause_s,
            ca_bundle=settings.ca_bundle,
        )
    if settings.token is not None:
        return connect_token(
            addresses,
            settings.token,
            clock=clock,
            pause_s=pause_s,
            ca_bundle=settings.ca_bundle,
        )
    raise SettingsError(f"github: not configured; {HOW_TO_CONFIGURE}")


def make_github_connection(settings: GitHubSettings) -> GitHubConnection:
    """Return how to reach that GitHub as somebody else than our App or user."""
    _check_authorities(settings.ca_bundle)
    addresses = locate(settings.api_url, settings.web_url)
    return GitHubConnection(addresses, ca_bundle=settings.ca_bundle)


def trust_for_git(settings: GitHubSettings) -> Mapping[str, str]:
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
            f"github.ca_bundle: {ca_bundle} is not a file with PEM certificates: "
            f"{error.strerror or error}"
        ) from error


def _pause_s(api_url: str) -> float:
    """Return the least time between two writes: a server of one's own sets no limit.

    https://docs.github.com/enterprise-server/rest/using-the-rest-api/rate-limits-for-the-rest-api
    """
    host = urlsplit(api_url).hostname or ""
    return 1.0 if host.endswith(("github.com", "ghe.com")) else 0.0
