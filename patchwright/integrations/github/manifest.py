"""Make a GitHub App of our own, by a manifest that somebody confirms in a browser.

https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
"""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from pydantic import Field, SecretStr

from patchwright.core.clock import Clock
from patchwright.core.types.base import Value
from patchwright.integrations.github.connection import GitHubConnection
from patchwright.integrations.github.errors import translate_errors
from patchwright.integrations.github.permissions import PERMISSIONS, SUBSCRIBED_EVENTS

WEBHOOK_PATH: Final = "/api/integration/github/events"
DONE_PATH: Final = "/setup/github/done"
CALLBACK_PATH: Final = "/auth/github/callback"

_DESCRIPTION = "Turns a request on an issue into a proven pull request."
_ORGANIZATION = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?\Z")


class NewApp(Value):
    """An App with its credentials, which GitHub tells once."""

    id: int
    slug: str
    html_url: str
    client_id: str
    client_secret: SecretStr
    webhook_secret: SecretStr
    private_key: SecretStr = Field(alias="pem")

    @property
    def install_url(self) -> str:
        """Where people choose the repositories it works in.

        An own server has the App's page under another path than github.com.
        https://docs.github.com/en/enterprise-server@latest/apps/sharing-github-apps/sharing-your-github-app
        """
        return f"{self.html_url}/installations/new"


def manifest(name: str, public_url: str) -> Mapping[str, object]:
    """Describe the App whose deliveries go to the service at that address."""
    return {
        "name": name,
        "description": _DESCRIPTION,
        "url": public_url,
        "public": False,
        "hook_attributes": {"url": public_url + WEBHOOK_PATH, "active": True},
        "redirect_url": public_url + DONE_PATH,
        "callback_urls": [public_url + CALLBACK_PATH],
        "default_permissions": {key: need.level for key, need in PERMISSIONS.items()},
        "default_events": sorted(SUBSCRIBED_EVENTS),
    }


def is_organization(name: str) -> bool:
    """Tell whether that may be the login of an organization."""
    return bool(_ORGANIZATION.match(name))


def registration_url(web_url: str, organization: str, state: str) -> str:
    """Return where the manifest is sent to; without an organization it's a person's."""
    owner = f"/organizations/{quote(organization, safe='')}" if organization else ""
    return f"{web_url}{owner}/settings/apps/new?state={quote(state, safe='')}"


def convert(connection: GitHubConnection, code: str, clock: Clock) -> NewApp:
    """Exchange the code, which counts once and for an hour, for the App."""
    client = connection.open_client(None)
    try:
        with translate_errors(clock):
            _, answer = client.requester.requestJsonAndCheck(
                "POST", f"/app-manifests/{quote(code, safe='')}/conversions"
            )
            return NewApp.model_validate(answer)
    finally:
        client.close()
