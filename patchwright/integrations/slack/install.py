"""Let workspaces install the app: Slack's web flow for apps.

https://docs.slack.dev/authentication/installing-with-oauth
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from pydantic import SecretStr

from patchwright.core.errors import PermissionDeniedError, ServiceError
from patchwright.integrations.slack.api import SlackClient
from patchwright.integrations.slack.errors import translate_errors
from patchwright.integrations.slack.payloads import OAuthAccess
from patchwright.integrations.slack.tokens import SlackInstallation

_API: Final = "/api"


@dataclass(frozen=True)
class AppInstaller:
    """Installs the app `client_id` wherever somebody agrees to it.

    `redirect_uri` is the address to which Slack sends their browser back; the app must
    have it among its redirect URLs. `scopes` are those of the app's manifest, and
    `is_welcome` judges a workspace by its id.
    """

    api: SlackClient
    client_id: str
    client_secret: SecretStr
    redirect_uri: str
    scopes: tuple[str, ...]
    is_allowed_workspace: Callable[[str], bool]

    def address(self, state: str) -> str:
        """Return where a browser goes to agree; `state` must come back with it."""
        query = {
            "client_id": self.client_id,
            "scope": ",".join(self.scopes),
            "redirect_uri": self.redirect_uri,
            "state": state,
        }
        root = self.api.api_url.removesuffix(_API)
        return f"{root}/oauth/v2/authorize?{urlencode(query)}"

    def exchange(self, code: str) -> SlackInstallation:
        """Return what the code stands for, which counts once.

        Raises `AuthenticationError` if Slack does not take it, and
        `PermissionDeniedError` if the workspace may not install the app, or some of the
        scopes were not granted.
        """
        client = self.api.open_client()
        with translate_errors(self.api.clock):
            answer = client.oauth_v2_access(
                client_id=self.client_id,
                client_secret=self.client_secret.get_secret_value(),
                code=code,
                redirect_uri=self.redirect_uri,
            )
            access = OAuthAccess.model_validate(answer.data)
        installed = installation_of(access)
        if not self.is_allowed_workspace(installed.id):
            raise PermissionDeniedError(
                f"{installed.id} is not among the workspaces that may install the app; "
                "an operator can add it to slack.workspaces"
            )
        if missing := set(self.scopes) - set(installed.scopes):
            listed = ", ".join(sorted(missing))
            raise PermissionDeniedError(f"Slack did not grant the app {listed}")
        return installed


def installation_of(access: OAuthAccess) -> SlackInstallation:
    """Tell an organization's installation from a workspace's."""
    where = access.enterprise if access.is_enterprise_install else access.team
    if where is None or not where.id:
        raise ServiceError("Slack does not say where the app was installed")
    return SlackInstallation(
        id=where.id,
        name=where.name,
        token=SecretStr(access.access_token),
        scopes=tuple(filter(None, access.scope.split(","))),
    )
