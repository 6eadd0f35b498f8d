"""Describe the Slack app that Patchwright works as, for Slack to make it.

https://docs.slack.dev/reference/app-manifest
"""

from collections.abc import Mapping
from typing import Final

from patchwright.integrations.slack.actions import (
    SHORTCUT_FIX_THIS,
    SHORTCUT_NEW_REQUEST,
)
from patchwright.integrations.slack.webhook import EVENTS

WEBHOOK_PATH: Final = "/api/integration/slack/events"
CALLBACK_PATH: Final = "/auth/slack/callback"

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
