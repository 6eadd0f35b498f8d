"""Methods that write, change and delete messages."""

import re
from dataclasses import replace
from typing import Any

from tests.fakes.slack.blocks import check_blocks
from tests.fakes.slack.call import Call, Method, RefusedError, method
from tests.fakes.slack.render.messages import message as rendered
from tests.fakes.slack.state import Channel, Ephemeral, Json, Message

MAX_TEXT = 40_000
EVENT_TYPE = re.compile(r"[A-Za-z0-9_.-]{1,100}")
MAX_METADATA = 8_000


def post_message(call: Call) -> Json:
    channel = call.open_channel()
    root = _root(call, channel)
    posted = _written(call, channel, call.world.new_ts(), root)
    call.world.messages[channel.id, posted.ts] = posted
    if root and not root.thread_ts:
        call.world.change(root, thread_ts=root.ts)
    shown = rendered(call.world, posted, with_metadata=True)
    return {"ok": True, "channel": channel.id, "ts": posted.ts, "message": shown}


def update(call: Call) -> Json:
    channel = call.open_channel()
    old = call.message(channel, call.text("ts"), "message_not_found")
    if old.user != call.bot.bot_user:
        raise RefusedError("cant_update_message")
    new = _written(call, channel, old.ts, None)
    # What is not given stays, but for blocks where there is a text.
    kept = replace(
        new,
        thread_ts=old.thread_ts,
        metadata=new.metadata if "metadata" in call.args else old.metadata,
        edited_ts="" if new.blocks else call.world.new_ts(),
    )
    call.world.messages[channel.id, old.ts] = kept
    hidden = ("ts", "thread_ts", "parent_user_id")
    told = rendered(call.world, kept)
    shown = {key: value for key, value in told.items() if key not in hidden}
    answer = {"channel": channel.id, "ts": old.ts, "text": kept.text, "message": shown}
    return {"ok": True, **answer}


def delete(call: Call) -> Json:
    channel = call.open_channel()
    old = call.message(channel, call.text("ts"), "message_not_found")
    if old.user != call.bot.bot_user:
        raise RefusedError("cant_delete_message")
    del call.world.messages[channel.id, old.ts]
    return {"ok": True, "channel": channel.id, "ts": old.ts}


def post_ephemeral(call: Call) -> Json:
    channel = call.open_channel()
    user = call.text("user")
    if user not in channel.members:
        raise RefusedError("user_not_in_channel")
    root = _root(call, channel)
    if root is not None and len(call.world.in_thread(channel.id, root.ts)) == 1:
        # It would be accepted, and shown to nobody; here it counts as a fault.
        raise RefusedError("nobody_sees_it")
    seen = Ephemeral(
        channel=channel.id,
        ts=call.world.new_ts(),
        user=user,
        text=_text(call),
        thread_ts=root.ts if root else "",
        blocks=check_blocks(call.parsed("blocks") or []),
    )
    call.world.ephemerals.append(seen)
    return {"ok": True, "message_ts": seen.ts}


def get_permalink(call: Call) -> Json:
    channel = call.channel()
    ts = call.text("message_ts")
    call.message(channel, ts, "message_not_found")
    domain = call.world.workspaces[channel.team].domain
    link = f"https://{domain}.slack.com/archives/{channel.id}/p{ts.replace('.', '')}"
    return {"ok": True, "channel": channel.id, "permalink": link}


def _written(call: Call, channel: Channel, ts: str, root: Message | None) -> Message:
    return Message(
        channel=channel.id,
        ts=ts,
        user=call.bot.bot_user,
        bot_id=call.bot.bot_id,
        team=call.bot.team or channel.team,
        text=_text(call),
        blocks=check_blocks(call.parsed("blocks") or []),
        metadata=_metadata(call),
        thread_ts=root.ts if root else "",
    )


def _root(call: Call, channel: Channel) -> Message | None:
    ts = call.text("thread_ts")
    if not ts:
        return None
    found = call.world.messages.get((channel.id, ts))
    if found is None:
        raise RefusedError("thread_not_found")
    if found.is_reply:
        raise RefusedError("cannot_reply_to_message")
    return found


def _text(call: Call) -> str:
    text = call.text("text")
    if len(text) > MAX_TEXT:
        raise RefusedError("msg_too_long")
    if not text.strip():
        # Slack takes blocks alone, and warns: notifications would be empty.
        raise RefusedError("no_text")
    return text


def _metadata(call: Call) -> Json | None:
    metadata = call.parsed("metadata")
    if metadata is None or metadata == {}:
        return None
    if not _is_metadata(metadata):
        raise RefusedError("invalid_metadata_format")
    if len(str(metadata)) > MAX_METADATA:
        raise RefusedError("metadata_too_large")
    return dict(metadata)


def _is_metadata(value: Any) -> bool:
    """https://docs.slack.dev/tools/node-slack-sdk/reference/web-api/interfaces/MessageMetadata/."""
    if not isinstance(value, dict) or set(value) != {"event_type", "event_payload"}:
        return False
    if not EVENT_TYPE.fullmatch(str(value["event_type"])):
        return False
    payload = value["event_payload"]
    return isinstance(payload, dict) and all(map(_is_field, payload.values()))


def _is_field(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_is_flat, value))
    return isinstance(value, str | int | float | bool) or _is_flat(value)


def _is_flat(value: Any) -> bool:
    scalar = str | int | float | bool
    return isinstance(value, dict) and all(
        isinstance(v, scalar) for v in value.values()
    )


WRITTEN = "text blocks metadata"
METHODS: dict[str, Method] = {
    "chat.postMessage": method(
        post_message,
        "channel",
        f"{WRITTEN} thread_ts unfurl_links unfurl_media",
        scope="chat:write",
    ),
    "chat.update": method(update, "channel ts", WRITTEN, scope="chat:write"),
    "chat.delete": method(delete, "channel ts", scope="chat:write"),
    "chat.postEphemeral": method(
        post_ephemeral, "channel user", "text blocks thread_ts", scope="chat:write"
    ),
    "chat.getPermalink": method(get_permalink, "channel message_ts", takes_json=False),
}
