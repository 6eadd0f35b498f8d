"""The Slack app: its manifest and scopes, and how workspaces install it."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urlencode

from pydantic import SecretStr

from patchwright.core.plugin import SetupStep
from patchwright.core.settings.model import Settings
from patchwright.core.types.errors import PermissionDeniedError, ServiceError
from patchwright.integrations.slack.client import SlackClient
from patchwright.integrations.slack.errors import translate_errors
from patchwright.integrations.slack.responses import OAuthAccess
from patchwright.integrations.slack.settings import SlackSettings
from patchwright.integrations.slack.text.actions import (
    SHORTCUT_FIX_THIS,
    SHORTCUT_NEW_REQUEST,
)
from patchwright.integrations.slack.tokens import SlackInstallation
from patchwright.integrations.slack.webhooks.reader import EVENTS

WEBHOOK_PATH: Final = "/api/integration/slack/events"
CALLBACK_PATH: Final = "/auth/slack/callback"
INSTALL_PATH: Final = "/auth/slack/install"

# What a bot token of ours may do. https://docs.slack.dev/reference/scopes
SCOPES: Final = (
    "app_mentions:read",
    "channels:history",
    "chat:write",
    "commands",
    "files:read",
    "groups:history",
    "im:history",
    "im:write",
    "metadata.message:read",
    "mpim:history",
    "reactions:read",
    "reactions:write",
    "users:read",
)

# Slack subscribes to messages by the kind of conversation.
_CONVERSATIONS: Final = ("channels", "groups", "im", "mpim")


def subscribed_events() -> tuple[str, ...]:
    """Return the names by which the app asks for the events that are read."""
    messages = {f"message.{kind}" for kind in _CONVERSATIONS}
    return tuple(sorted((EVENTS - {"message"}) | messages))


def manifest(command: str, public_url: str) -> Mapping[str, object]:
    """Describe the app whose deliveries go to the service at that address."""
    return {
        "display_information": {
            "name": "Patchwright",
            "description": "Turns a request in a thread into a proven pull request.",
            "background_color": "#1f2937",
        },
        "features": _features(command, public_url + WEBHOOK_PATH),
        "oauth_config": {
            "redirect_urls": [public_url + CALLBACK_PATH],
            "scopes": {"bot": list(SCOPES)},
        },
        "settings": _settings(public_url + WEBHOOK_PATH),
    }


def _features(command: str, address: str) -> Mapping[str, object]:
    return {
        "app_home": {
            "home_tab_enabled": True,
            "messages_tab_enabled": True,
            "messages_tab_read_only_enabled": False,
        },
        "bot_user": {"display_name": "patchwright", "always_online": True},
        "shortcuts": [
            {
                "name": "Fix this",
                "type": "message",
                "callback_id": SHORTCUT_FIX_THIS,
                "description": "Ask for a pull request about this message",
            },
            {
                "name": "New request",
                "type": "global",
                "callback_id": SHORTCUT_NEW_REQUEST,
                "description": "Ask for a pull request",
            },
        ],
        "slash_commands": [
            {
                "command": command,
                "url": address,
                "description": "Ask for a pull request",
                "usage_hint": "what to fix, or help",
                # People and links then come as in messages.
                "should_escape": True,
            }
        ],
    }


def _settings(address: str) -> Mapping[str, object]:
    return {
        "event_subscriptions": {
            "request_url": address,
            "bot_events": list(subscribed_events()),
        },
        "interactivity": {
            "is_enabled": True,
            "request_url": address,
            "message_menu_options_url": address,
        },
        "org_deploy_enabled": False,
        "socket_mode_enabled": False,
        "token_rotation_enabled": False,
    }


_NEW_APP: Final = "https://api.slack.com/apps?new_app=1&manifest_json="


def setup_steps(settings: Settings) -> tuple[SetupStep, ...]:
    """Say how the app is made, with its manifest in a link that Slack opens.

    Without a public address there is none: the manifest names it.
    """
    slack, public_url = SlackSettings.of(settings), settings.server.public_url
    if not public_url:
        return ()
    text = json.dumps(manifest(slack.command, public_url), separators=(",", ":"))
    return (
        SetupStep(
            text="Create the app in Slack. The link has its manifest, with the address "
            "of this service: choose your workspace, Next, and Create.",
            link=f"{_NEW_APP}{quote(text, safe='')}",
            link_title="Create the Slack app",
        ),
        SetupStep(
            text="There, choose Install App and Install to Workspace. Copy the Bot "
            "User OAuth Token, and the Signing Secret from Basic Information."
        ),
        SetupStep(
            text="In Slack, press Retry under Event Subscriptions if the address was "
            "not verified, and write /invite @patchwright in a channel.",
            is_last=True,
        ),
    )


_API: Final = "/api"


@dataclass(frozen=True)
class AppInstaller:
    """Installs the app `client_id` wherever somebody agrees to it.

    `redirect_uri` is the address to which Slack sends their browser back; the app must
    have it among its redirect URLs. `scopes` are those of the app's manifest, and
    `is_allowed_workspace` judges a workspace by its id.
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
                f"{installed.id} cannot install the app; the operator can add it to "
                "slack.workspaces"
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
