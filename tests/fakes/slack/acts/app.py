"""What people do with the app itself: its command, its home tab, its removal."""

from tests.fakes.slack.acts.places import open_direct
from tests.fakes.slack.render import events
from tests.fakes.slack.render.interactions import new_trigger
from tests.fakes.slack.state import Installation, Json, World


def command(world: World, user: str, channel: str, line: str) -> dict[str, str]:
    """Return the fields of a slash command; `line` begins with it."""
    person, where = world.people[user], world.channels[channel]
    name, _, text = line.partition(" ")
    return {
        "token": "verification-token",
        "team_id": person.team,
        "team_domain": world.workspaces[person.team].domain,
        "channel_id": channel,
        "channel_name": where.name or "directmessage",
        "user_id": user,
        "user_name": person.name,
        "command": name,
        "text": text,
        "api_app_id": world.app.id,
        "is_enterprise_install": "false",
        "response_url": f"{world.url}/commands/{person.team}/1/x",
        "trigger_id": new_trigger(world, user),
    }


def open_home(world: World, bot: Installation, user: str) -> list[Json]:
    direct = open_direct(world, bot, user)
    event = events.home_opened(world, user, direct.id)
    return [events.wrapped(world, bot, event, direct)]


def uninstall(world: World, bot: Installation, team: str) -> list[Json]:
    """Let the token die; Slack tells of that, and of the removal."""
    del world.installations[bot.token]
    tokens = {"oauth": [], "bot": [bot.bot_user]}
    told: list[Json] = [
        {"type": "tokens_revoked", "tokens": tokens},
        {"type": "app_uninstalled"},
    ]
    bodies = (events.wrapped(world, bot, event) for event in told)
    return [{**body, "team_id": team} for body in bodies]
