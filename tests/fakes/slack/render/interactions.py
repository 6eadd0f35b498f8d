"""The payloads of what people press, pick and send."""

from tests.fakes.slack.render.messages import message as rendered
from tests.fakes.slack.state import Ephemeral, Json, Message, View, World

# Where a button can stand.
Source = Message | Ephemeral | View
TRIGGER_S = 3.0


def base(world: World, kind: str, user: str) -> Json:
    """Return what all of them have: who, where, and what opens a form."""
    person = world.people[user]
    workspace = world.workspaces[person.team]
    team: Json = {"id": workspace.id, "domain": workspace.domain}
    if workspace.enterprise:
        team |= {"enterprise_id": workspace.enterprise, "enterprise_name": "Org"}
    enterprise = {"id": workspace.enterprise, "name": "Org"}
    return {
        "type": kind,
        "user": {
            "id": user,
            "username": person.name,
            "name": person.name,
            "team_id": person.team,
        },
        "api_app_id": world.app.id,
        "token": "verification-token",
        "trigger_id": new_trigger(world, user),
        "team": team,
        "enterprise": enterprise if workspace.enterprise else None,
        "is_enterprise_install": False,
    }


def new_trigger(world: World, user: str) -> str:
    trigger = f"{world.new_ts()}.{world.new_id('trigger')}"
    world.triggers[trigger] = (user, world.clock.monotonic() + TRIGGER_S)
    return trigger


def placed(world: World, source: Source) -> Json:
    """Return where it was pressed."""
    if isinstance(source, View):
        container: Json = {"type": "view", "view_id": source.id}
        return {"container": container, "view": shown_view(world, source)}
    channel = world.channels[source.channel]
    container = {
        "type": "message",
        "message_ts": source.ts,
        "channel_id": channel.id,
        "is_ephemeral": isinstance(source, Ephemeral),
    }
    if source.thread_ts:
        container["thread_ts"] = source.thread_ts
    place: Json = {
        "container": container,
        "channel": {"id": channel.id, "name": channel.name or "directmessage"},
        "response_url": f"{world.url}/actions/{channel.team}/1/x",
    }
    if isinstance(source, Message):
        place["message"] = rendered(world, source)
    return place


def shown_view(world: World, view: View, values: Json | None = None) -> Json:
    bot = world.bot_of(view.team)
    return {
        "private_metadata": "",
        "callback_id": "",
        **view.view,
        "id": view.id,
        "team_id": view.team,
        "app_id": world.app.id,
        "app_installed_team_id": view.team,
        "bot_id": bot.bot_id if bot else "",
        "root_view_id": view.id,
        "previous_view_id": None,
        "hash": f"{view.id}.hash",
        "external_id": "",
        "state": {"values": values or {}},
    }
