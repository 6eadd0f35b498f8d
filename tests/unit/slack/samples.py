"""Deliveries of our own making, with the few fields that are read."""

import json
from typing import Any

from patchwright.core.types.triggers import Ignored, ParsedWebhook, Trigger
from patchwright.integrations.slack.text.actions import FORM
from patchwright.integrations.slack.webhooks.reader import read_delivery
from patchwright.integrations.slack.webhooks.triggers import SlackTriggerRules

LISTENING = SlackTriggerRules(command="/patchwright")
APP, BOT, ANN = "A1", "UBOT", "UANN"
TEAM, CHANNEL, TS = "T1", "C1", "1712345678.000100"
ROOT = "1712345000.000100"


def envelope(event: dict[str, Any], **fields: Any) -> dict[str, Any]:
    seen_by = {
        "team_id": TEAM,
        "enterprise_id": None,
        "user_id": BOT,
        "is_bot": True,
        "is_enterprise_install": False,
    }
    usual = {
        "type": "event_callback",
        "team_id": TEAM,
        "api_app_id": APP,
        "event_id": "Ev1",
        "authorizations": [seen_by],
        "event": event,
    }
    return usual | fields


def message(text: str = "hello", **fields: Any) -> dict[str, Any]:
    usual = {
        "type": "message",
        "user": ANN,
        "text": text,
        "ts": TS,
        "team": TEAM,
        "channel": CHANNEL,
        "channel_type": "channel",
        "event_ts": TS,
    }
    return usual | fields


def mention(text: str = f"<@{BOT}> fix it", **fields: Any) -> dict[str, Any]:
    return message(text) | {"type": "app_mention"} | fields


def reaction(name: str, **fields: Any) -> dict[str, Any]:
    usual = {
        "type": "reaction_added",
        "user": ANN,
        "reaction": name,
        "item": {"type": "message", "channel": CHANNEL, "ts": TS},
        "item_user": BOT,
        "event_ts": "1712345999.000100",
    }
    return usual | fields


def interaction(kind: str, **fields: Any) -> dict[str, Any]:
    usual = {
        "type": kind,
        "team": {"id": TEAM, "domain": "acme"},
        "enterprise": None,
        "is_enterprise_install": False,
        "user": {"id": ANN, "username": "ann", "team_id": TEAM},
        "trigger_id": "111.222.abc",
    }
    return usual | fields


def press(action: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Press something in a message of ours, below the first of a thread."""
    shown = {
        "type": "message",
        "channel_id": CHANNEL,
        "message_ts": TS,
        "thread_ts": ROOT,
    }
    done = {"action_ts": "1712345999.000100", "block_id": "b"} | action
    usual = {"container": shown, "channel": {"id": CHANNEL}, "actions": [done]}
    return interaction("block_actions", **(usual | fields))


def submission(
    fields: dict[str, dict[str, Any]], metadata: str = "", **others: Any
) -> dict[str, Any]:
    """Send our form with what is filled into each field."""
    view = {
        "id": "V1",
        "callback_id": FORM,
        "private_metadata": metadata,
        "app_installed_team_id": TEAM,
        "state": {"values": {name: {name: filled} for name, filled in fields.items()}},
    }
    return interaction("view_submission", view=view | others)


def command(text: str, **fields: str) -> dict[str, str]:
    usual = {
        "team_id": TEAM,
        "channel_id": CHANNEL,
        "user_id": ANN,
        "user_name": "ann",
        "command": "/patchwright",
        "text": text,
        "trigger_id": "111.222.abc",
    }
    return usual | fields


def read_json(payload: object) -> ParsedWebhook:
    return read_delivery(json.dumps(payload).encode(), LISTENING)


def read_event(event: dict[str, Any], **fields: Any) -> ParsedWebhook:
    return read_json(envelope(event, **fields))


def trigger_of(payload: object) -> Trigger:
    reading = read_json(payload)
    assert isinstance(reading, Trigger), reading
    return reading


def reason_of(payload: object) -> str:
    reading = read_json(payload)
    assert isinstance(reading, Ignored), reading
    return reading.reason
