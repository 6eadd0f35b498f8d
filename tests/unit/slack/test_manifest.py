"""The app asks for what the code needs, and for nothing else."""

import ast
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from slack_sdk import WebClient

from patchwright.integrations.slack.app import (
    CALLBACK_PATH,
    SCOPES,
    WEBHOOK_PATH,
    manifest,
)
from patchwright.integrations.slack.settings import SlackSettings
from patchwright.integrations.slack.text import actions
from patchwright.integrations.slack.webhooks.reader import EVENTS
from tests.architecture.tree import ROOT

ADDRESS = "https://patchwright.example.com"
COMMAND = SlackSettings().command
CODE = ROOT / "patchwright" / "integrations" / "slack"
ANY_CONVERSATION = {"channels:history", "groups:history", "im:history", "mpim:history"}

# What each method needs of a bot token, in those conversations that we use it in.
# https://docs.slack.dev/reference/methods
BY_METHOD: Mapping[str, set[str]] = {
    "apps_connections_open": set(),  # with a token of the app itself
    "auth_test": set(),
    "chat_delete": {"chat:write"},
    "chat_getPermalink": set(),
    "chat_postEphemeral": {"chat:write"},
    "chat_postMessage": {"chat:write"},
    "chat_update": {"chat:write"},
    "conversations_history": ANY_CONVERSATION,
    "conversations_open": {"im:write"},
    "conversations_replies": ANY_CONVERSATION,
    "files_info": {"files:read"},
    "oauth_v2_access": set(),
    "reactions_add": {"reactions:write"},
    "users_info": {"users:read"},
    "views_open": set(),
    "views_publish": set(),
}
BY_EVENT: Mapping[str, set[str]] = {
    "app_home_opened": set(),
    "app_mention": {"app_mentions:read"},
    "app_uninstalled": set(),
    "message": ANY_CONVERSATION,
    "reaction_added": {"reactions:read"},
    "tokens_revoked": set(),
}
# The commands and shortcuts, downloads of files, and the notes in our own messages.
BESIDES = {"commands", "files:read", "metadata.message:read"}


def app() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "slack.yml").read_bytes())
    return found


def called_methods() -> Iterator[str]:
    """Yield the methods of Slack's Web API that our code calls."""
    methods = {name for name in dir(WebClient) if "_" in name.strip("_")}
    for file in CODE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Attribute) and node.attr in methods:
                yield node.attr


def test_the_file_is_what_the_service_describes() -> None:
    assert app() == manifest(COMMAND, ADDRESS)


def test_every_event_that_is_read_is_asked_for_and_no_other() -> None:
    asked = app()["settings"]["event_subscriptions"]["bot_events"]
    assert {name.partition(".")[0] for name in asked} == EVENTS
    kinds = {name for name in asked if name.startswith("message.")}
    assert kinds == {f"message.{one}" for one in ("channels", "groups", "im", "mpim")}


def test_scopes_are_enough_for_every_call_and_none_is_superfluous() -> None:
    needed = set(BESIDES)
    for name in called_methods():
        needed |= BY_METHOD[name]
    for name in EVENTS:
        needed |= BY_EVENT[name]
    assert needed == set(SCOPES) == set(app()["oauth_config"]["scopes"]["bot"])


def test_scopes_are_what_slack_says_of_the_methods(corpus: Path | None) -> None:
    if corpus is None:
        return
    file = corpus / "slack" / "methods.schema.json"
    methods = json.loads(file.read_bytes())["methods"]
    for name in called_methods():
        said = methods.get(name.replace("_", "."), {}).get("scopes", [])
        # Older apps had a scope for writing as themselves.
        known = {one.removesuffix(":bot") for one in said} - {"none"}
        assert BY_METHOD[name] <= known, name
        assert bool(BY_METHOD[name]) == bool(known), name


def test_shortcuts_are_those_that_are_read() -> None:
    shortcuts = app()["features"]["shortcuts"]
    assert {one["type"]: one["callback_id"] for one in shortcuts} == {
        "message": actions.SHORTCUT_FIX_THIS,
        "global": actions.SHORTCUT_NEW_REQUEST,
    }


def test_names_are_as_short_as_slack_wants_them() -> None:
    """https://docs.slack.dev/reference/app-manifest."""
    features, shown = app()["features"], app()["display_information"]
    assert len(shown["name"]) <= 35
    assert len(shown["description"]) <= 140
    assert all(len(one["name"]) <= 24 for one in features["shortcuts"])
    assert all(len(one["description"]) <= 150 for one in features["shortcuts"])
    assert len(features["bot_user"]["display_name"]) <= 80


def test_everything_is_delivered_to_one_address() -> None:
    settings, address = app()["settings"], ADDRESS + WEBHOOK_PATH
    assert settings["event_subscriptions"]["request_url"] == address
    assert settings["interactivity"]["request_url"] == address
    assert settings["interactivity"]["message_menu_options_url"] == address
    assert [one["url"] for one in app()["features"]["slash_commands"]] == [address]
    assert app()["oauth_config"]["redirect_urls"] == [ADDRESS + CALLBACK_PATH]
