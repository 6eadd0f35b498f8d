"""Whether people can sign in at this service, and with what."""

from urllib.parse import urlsplit

import structlog

from patchwright.core.clock import Clock
from patchwright.core.settings.model import Settings
from patchwright.integrations.github.manifest import CALLBACK_PATH
from patchwright.integrations.github.sign_in import SignIn
from patchwright.workers.connections import make_github_connection
from patchwright.workers.web.sign_in import SignInRoutes, make_sign_in_routes

log = structlog.get_logger(__name__)


def make_sign_in(
    settings: Settings, secret: bytes | None, clock: Clock
) -> SignInRoutes | None:
    """Return the door for people, or None where nobody can sign in."""
    github = settings.github
    if not (github.client_id and github.client_secret):
        return None
    public_url = settings.server.public_url
    if not public_url:
        log.warning("sign_in_off", missing="server.public_url")
        return None
    if secret is None:
        log.warning("sign_in_off", missing="security.session_secret")
        return None
    provider = SignIn(
        connection=make_github_connection(github),
        client_id=github.client_id,
        client_secret=github.client_secret,
        redirect_uri=public_url + CALLBACK_PATH,
        clock=clock,
    )
    return make_sign_in_routes(
        provider,
        secret,
        clock,
        secure=public_url.startswith("https:"),
        prefix=urlsplit(public_url).path,
    )
