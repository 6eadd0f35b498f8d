"""Whether workspaces of Slack can install the app here, and with what."""

from urllib.parse import urlsplit

import structlog
from pydantic import SecretStr

from patchwright.core.clock import Clock
from patchwright.core.settings.model import Settings
from patchwright.integrations.slack.api import SlackClient
from patchwright.integrations.slack.install import AppInstaller
from patchwright.integrations.slack.manifest import CALLBACK_PATH, SCOPES
from patchwright.workers.store.installations import SlackInstallationStore
from patchwright.workers.store.secrets import SecretStore
from patchwright.workers.web.slack_install import SlackInstallRoutes, make_slack_install_routes

log = structlog.get_logger(__name__)


def make_slack_install(
    settings: Settings,
    api: SlackClient,
    secrets: SecretStore,
    secret: bytes | None,
    clock: Clock,
) -> SlackInstallRoutes | None:
    """Return the door, None where one workspace is served by its token."""
    slack, public_url = settings.slack, settings.server.public_url
    if not slack.client_id or slack.bot_token:
        return None
    if not public_url or secret is None:
        missing = "security.session_secret" if public_url else "server.public_url"
        log.warning("slack_install_off", missing=missing)
        return None
    return make_slack_install_routes(
        AppInstaller(
            api=api,
            client_id=slack.client_id,
            client_secret=slack.client_secret or SecretStr(""),
            redirect_uri=public_url + CALLBACK_PATH,
            scopes=SCOPES,
            is_allowed_workspace=slack.may_install,
        ),
        SlackInstallationStore(secrets).save,
        secret,
        clock,
        secure=public_url.startswith("https:"),
        prefix=urlsplit(public_url).path,
    )
