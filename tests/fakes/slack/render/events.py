"""The bodies of events, as the Events API sends them today."""

from tests.fakes.slack.render.messages import message as rendered
from tests.fakes.slack.state import Channel, Installation, Json, Message, World


def wrapped(
    world: World, bot: Installation, event: Json, channel: Channel | None = None
) -> Json:
    """Put an event into the outer body, with an id of its own."""
    team = bot.team or (channel.team if channel else "")
    event_id = f"Ev{world.new_id('E')}"
    shown = {
        "enterprise_id": bot.enterprise or None,
        "team_id": bot.team or None,
        "user_id": bot.bot_user,
        "is_bot": True,
        "is_enterprise_install": bot.is_for_all,
    }
    return {
        "token": "verification-token",
        "team_id": team,
        "enterprise_id": bot.enterprise or None,
        "context_team_id": team,
        "context_enterprise_id": bot.enterprise or None,
        "api_app_id": world.app.id,
        "event": event,
        "type": "event_callback",
        "event_id": event_id,
        "event_time": int(world.clock.now().timestamp()),
        "authorizations": [shown],
        "is_ext_shared_channel": bool(channel and channel.shared_with),
        "event_context": f"4-{event_id}",
    }


def posted(world: World, channel: Channel, message: Message) -> Json:
    """Return the `message` event of a message that is new."""
    return {
        **said(world, message),
        **_place(channel, message.ts),
        "channel_type": channel.kind.value,
    }


def mentioned(world: World, channel: Channel, message: Message) -> Json:
    """Return the `app_mention` event of a message that calls the app."""
    body = said(world, message)
    body.pop("subtype", None)
    body.pop("parent_user_id", None)
    return {**body, "type": "app_mention", **_place(channel, message.ts)}


def changed(world: World, channel: Channel, old: Message, new: Message) -> Json:
    ts = world.new_ts()
    return {
        "type": "message",
        "subtype": "message_changed",
        "hidden": True,
        "message": said(world, new),
        "previous_message": said(world, old),
        **_place(channel, ts),
        "ts": ts,
        "channel_type": channel.kind.value,
    }


def deleted(world: World, channel: Channel, old: Message) -> Json:
    ts = world.new_ts()
    return {
        "type": "message",
        "subtype": "message_deleted",
        "hidden": True,
        "deleted_ts": old.ts,
        "previous_message": said(world, old),
        **_place(channel, ts),
        "ts": ts,
        "channel_type": channel.kind.value,
    }


def reacted(world: World, message: Message, user: str, name: str) -> Json:
    item = {"type": "message", "channel": message.channel, "ts": message.ts}
    return {
        "type": "reaction_added",
        "user": user,
        "reaction": name,
        "item": item,
        "item_user": message.user,
        "event_ts": world.new_ts(),
    }


def home_opened(world: World, user: str, direct: str) -> Json:
    return {
        "type": "app_home_opened",
        "user": user,
        "channel": direct,
        "tab": "home",
        "event_ts": world.new_ts(),
    }


def said(world: World, message: Message) -> Json:
    """Return what events say of a message; a foreigner's workspace is told."""
    body = rendered(world, message)
    body.pop("reply_count", None)
    body.pop("latest_reply", None)
    if not message.bot_id:
        body["client_msg_id"] = f"9cbd4c5b-{message.ts}"
    channel = world.channels[message.channel]
    if message.team != channel.team:
        body["user_team"] = body["source_team"] = message.team
    return body


def _place(channel: Channel, ts: str) -> Json:
    return {"channel": channel.id, "event_ts": ts}
