"""Methods that show forms and home tabs."""

from typing import Any

from tests.fakes.slack.blocks import check_blocks
from tests.fakes.slack.call import Call, Method, RefusedError, method
from tests.fakes.slack.state import Json, View

MAX_TITLE, MAX_METADATA = 24, 3_000


def open_(call: Call) -> Json:
    user = _user_of_trigger(call)
    view = _checked(call.parsed("view"), "modal")
    shown = View(
        id=call.world.new_id("V"), user=user, team=_team(call, user), view=view
    )
    call.world.forms.append(shown)
    return {"ok": True, "view": {"id": shown.id, "team_id": shown.team, **view}}


def publish(call: Call) -> Json:
    user = call.text("user_id")
    if user not in call.world.people:
        raise RefusedError("user_not_found")
    view = _checked(call.parsed("view"), "home")
    shown = View(
        id=call.world.new_id("V"), user=user, team=_team(call, user), view=view
    )
    call.world.homes[user] = shown
    return {"ok": True, "view": {"id": shown.id, "team_id": shown.team, **view}}


def _team(call: Call, user: str) -> str:
    return call.bot.team or call.world.people[user].team


def _user_of_trigger(call: Call) -> str:
    """Return who acted; what they set off opens a form once, within three seconds."""
    found = call.world.triggers.pop(call.text("trigger_id"), None)
    if found is None:
        raise RefusedError("invalid_trigger_id")
    user, until = found
    if call.world.clock.monotonic() > until:
        raise RefusedError("expired_trigger_id")
    return user


def _checked(view: Any, kind: str) -> Json:
    if not isinstance(view, dict) or view.get("type") != kind:
        raise RefusedError("invalid_arguments")
    check_blocks(view.get("blocks"), is_view=True)
    if len(view.get("private_metadata", "")) > MAX_METADATA:
        raise RefusedError("invalid_arguments")
    for name in ("title", "submit", "close"):
        shown = view.get(name, {}).get("text", "")
        if len(shown) > MAX_TITLE or (kind == "modal" and not shown):
            raise RefusedError("invalid_arguments")
    return dict(view)


METHODS: dict[str, Method] = {
    "views.open": method(open_, "trigger_id view"),
    "views.publish": method(publish, "user_id view"),
}
