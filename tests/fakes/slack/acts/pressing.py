"""What people press, pick and fill in."""

from typing import Any

from tests.fakes.slack.blocks import check_option
from tests.fakes.slack.render.events import said
from tests.fakes.slack.render.interactions import (
    Source,
    base,
    placed,
    shown_view,
)
from tests.fakes.slack.state import Json, Message, View, World

MAX_OPTIONS = 100
# An element, with the block that it stands in.
Found = tuple[Json, Json]


def press(world: World, user: str, source: Source, label: str) -> Json:
    """Press the button with those words."""
    block, button = _find(source, "button", lambda one: one["text"]["text"] == label)
    keys = ("text", "value", "url", "style")
    action = {key: button[key] for key in keys if key in button}
    return _acted(world, user, source, (block, button), action)


def search(world: World, user: str, source: Source, query: str) -> Json:
    """Type into the field that finds repositories."""
    block, field = _find(source, "external_select")
    if len(query) < field.get("min_query_length", 3):
        raise ValueError("Slack asks nobody about so few letters")
    return {
        **base(world, "block_suggestion", user),
        **placed(world, source),
        "action_id": field["action_id"],
        "block_id": block.get("block_id", "b"),
        "value": query,
    }


def pick(world: World, user: str, source: Source, option: Json) -> Json:
    """Take one of the options that the field showed."""
    action = {"selected_option": option}
    return _acted(world, user, source, _find(source, "external_select"), action)


def submit(world: World, form: View, words: dict[str, str]) -> Json:
    """Fill in the fields by their labels, and send the form."""
    values: Json = {}
    for block in form.blocks:
        if block["type"] == "input":
            element = block["element"]
            filled = _filled(element, words.pop(block["label"]["text"], None))
            given = {element["action_id"]: filled}
            values[block["block_id"]] = given
    if words:
        raise LookupError(f"the form has no field {sorted(words)}")
    world.forms.remove(form)
    return {
        **base(world, "view_submission", form.user),
        "view": shown_view(world, form, values),
        "response_urls": [],
    }


def shortcut(world: World, user: str, callback_id: str) -> Json:
    """Choose one of the app's shortcuts that are about nothing in particular."""
    found = base(world, "shortcut", user)
    return {**found, "callback_id": callback_id, "action_ts": world.new_ts()}


def message_shortcut(
    world: World, user: str, message: Message, callback_id: str
) -> Json:
    """Choose one of the app's shortcuts in a message's menu."""
    channel = world.channels[message.channel]
    return {
        **base(world, "message_action", user),
        "callback_id": callback_id,
        "action_ts": world.new_ts(),
        "message_ts": message.ts,
        "message": said(world, message),
        "channel": {"id": channel.id, "name": channel.name},
        "response_url": f"{world.url}/app/{channel.team}/1/x",
    }


def labels(source: Source) -> list[str]:
    """Return what can be pressed."""
    return [
        one["text"]["text"] for _, one in _elements(source) if one["type"] == "button"
    ]


def option_problems(options: list[Json]) -> list[str]:
    """Say what Slack would not show of an answer to what was typed."""
    problems = [one for option in options for one in check_option(option)]
    if len(options) > MAX_OPTIONS:
        problems.append(f"no more than {MAX_OPTIONS} options")
    return problems


def _acted(world: World, user: str, source: Source, found: Found, action: Json) -> Json:
    block, element = found
    done = {
        "type": element["type"],
        "action_id": element["action_id"],
        "block_id": block.get("block_id", "b"),
        "action_ts": world.new_ts(),
        **action,
    }
    return {
        **base(world, "block_actions", user),
        **placed(world, source),
        "state": {"values": {}},
        "actions": [done],
    }


def _filled(element: Json, words: str | None) -> Json:
    if element["type"] == "plain_text_input":
        return {"type": element["type"], "value": words}
    option = None
    if words is not None:
        text = {"type": "plain_text", "text": words, "emoji": True}
        option = {"text": text, "value": words}
    return {"type": element["type"], "selected_option": option}


def _find(source: Source, kind: str, fits: Any = lambda _: True) -> Found:
    for block, element in _elements(source):
        if element["type"] == kind and fits(element):
            return block, element
    raise LookupError(f"no such {kind}; there are the buttons {labels(source)}")


def _elements(source: Source) -> list[Found]:
    found = []
    for block in source.blocks:
        inside = [
            *(block.get("elements", ()) if block["type"] == "actions" else ()),
            *filter(None, (block.get("accessory"), block.get("element"))),
        ]
        found += [(block, element) for element in inside]
    return found
