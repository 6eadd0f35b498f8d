"""Methods about people, about reactions of ours, and about ourselves."""

from tests.fakes.slack.call import Call, Method, RefusedError, method
from tests.fakes.slack.state import Json


def auth_test(call: Call) -> Json:
    world, bot = call.world, call.bot
    workspace = world.workspaces.get(bot.team)
    domain = workspace.domain if workspace else "org"
    return {
        "ok": True,
        "url": f"https://{domain}.slack.com/",
        "team": workspace.name if workspace else "",
        "user": world.people[bot.bot_user].name,
        "team_id": bot.team,
        "user_id": bot.bot_user,
        "bot_id": bot.bot_id,
        "is_enterprise_install": bot.is_for_all,
    }


def users_info(call: Call) -> Json:
    found = call.world.people.get(call.text("user"))
    if found is None:
        raise RefusedError("user_not_found")
    profile = {"display_name": found.display_name, "real_name": found.name.title()}
    user = {
        "id": found.id,
        "team_id": found.team,
        "name": found.name,
        "real_name": found.name.title(),
        "profile": profile,
        "is_bot": bool(found.bot_id),
        "deleted": False,
    }
    return {"ok": True, "user": user}


def add_reaction(call: Call) -> Json:
    channel = call.open_channel()
    ts = call.text("timestamp")
    call.message(channel, ts, "message_not_found")
    given = call.world.reactions.setdefault((channel.id, ts), [])
    reaction = (call.bot.bot_user, call.text("name"))
    if reaction in given:
        raise RefusedError("already_reacted")
    given.append(reaction)
    return {"ok": True}


METHODS: dict[str, Method] = {
    "auth.test": method(auth_test),
    "users.info": method(users_info, "user", scope="users:read", takes_json=False),
    "reactions.add": method(
        add_reaction, "channel timestamp name", scope="reactions:write"
    ),
}
