"""Whatever is sent, it is read, ignored by name, or called malformed; nothing else."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.types.errors import PayloadError
from patchwright.core.types.triggers import Ignored, ParsedWebhook, Trigger
from patchwright.integrations.slack.text import actions
from patchwright.integrations.slack.webhooks.reader import (
    EVENTS,
    SocketReceiver,
    delivery_id,
)
from tests.provision import environment
from tests.unit.slack.samples import (
    LISTENING,
    command,
    envelope,
    interaction,
    mention,
    message,
    press,
    reaction,
    read_json,
    submission,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
READINGS = get_args(ParsedWebhook)
EVENT_FIELDS = tuple(mention() | reaction("x") | {"tokens": {}, "subtype": ""})
WHOLES = (
    envelope(mention()),
    envelope(message(thread_ts="1.1")),
    command("fix it"),
    press({"action_id": actions.COMMAND, "value": '{"command": "stop"}'}),
    submission({actions.FORM_WORDS: {"value": "x"}}),
    interaction("block_suggestion", action_id=actions.REPOSITORY),
    interaction("message_action", callback_id=actions.SHORTCUT_FIX_THIS),
)


def reading_of(payload: object) -> ParsedWebhook | None:
    try:
        return read_json(payload)
    except PayloadError:
        return None


@given(
    whole=st.sampled_from(WHOLES),
    field=st.sampled_from(sorted({name for whole in WHOLES for name in whole})),
    value=JSON,
)
def test_any_json_is_a_reading_or_a_payload_error(
    whole: dict[str, Any], field: str, value: object
) -> None:
    reading = reading_of(whole | {field: value})
    assert reading is None or isinstance(reading, READINGS)


@given(
    name=st.sampled_from(sorted(EVENTS)),
    field=st.sampled_from(EVENT_FIELDS),
    value=JSON,
)
def test_any_event_is_a_reading_or_a_payload_error(
    name: str, field: str, value: object
) -> None:
    event = mention() | reaction("x") | {"type": name, field: value}
    reading = reading_of(envelope(event))
    assert reading is None or isinstance(reading, READINGS)


@given(body=st.binary() | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_body_has_a_name(body: bytes) -> None:
    assert delivery_id({}, body)
    assert delivery_id({"content-type": "application/x-www-form-urlencoded"}, body)


def outside_deliveries() -> Iterator[tuple[str, dict[str, str], bytes]]:
    """Yield name, headers and body of each outside example, where there are any."""
    corpus = environment.corpus()
    if corpus is None:
        return
    folder = corpus / "slack"
    for file in sorted((folder / "commands").iterdir()):
        form = {"content-type": "application/x-www-form-urlencoded"}
        yield file.name, form, file.read_bytes()
    for kind in ("events", "interactions"):
        for file in sorted((folder / kind).iterdir()):
            yield file.name, {}, file.read_bytes()
    for file in sorted((folder / "socket-mode").iterdir()):
        frame = json.loads(file.read_bytes())
        if "payload" in frame:
            yield file.name, {}, json.dumps(frame["payload"]).encode()


def test_every_outside_delivery_is_read() -> None:
    receiver = SocketReceiver(LISTENING)
    for name, headers, body in outside_deliveries():
        assert isinstance(receiver.read(headers, body), READINGS), name


# What the samples are, where our own user wrote some of them.
ASKING = {
    "app_mention.json": "Hi there!",
    "app_mention.org-app.json": "Hi there!",
    "app_mention.shared-channel.json": "Hi there!",
    "message.channels.thread-reply.json": "When Slack was released?",
    "message.im.json": "When Slack was released?",
    "message.thread_broadcast.json": "Hi there!",
}


def test_outside_requests_are_triggers_and_nothing_else_is() -> None:
    receiver = SocketReceiver(LISTENING)
    for name, headers, body in outside_deliveries():
        reading = receiver.read(headers, body)
        asked = reading.request if isinstance(reading, Trigger) else None
        assert asked == ASKING.get(name), name


def test_outside_samples_of_our_own_controls_are_read(corpus: Path | None) -> None:
    """The samples carry names of their own; with ours they are ours."""
    if corpus is None:
        return
    folder = corpus / "slack" / "interactions"
    pressed = json.loads((folder / "block_actions.json").read_bytes())
    pressed["actions"][0] |= {
        "action_id": actions.numbered(actions.COMMAND, 0),
        "value": actions.encode_press(actions.Press(command="stop")),
    }
    chosen = json.loads((folder / "message_action.json").read_bytes())
    chosen["callback_id"] = actions.SHORTCUT_FIX_THIS
    for payload, request in ((pressed, "stop"), (chosen, "@W222 test")):
        reading = read_json(payload)
        assert isinstance(reading, Trigger)
        assert reading.request == request


@pytest.mark.parametrize(
    "kind", ["view_closed", "dialog_submission", "app_rate_limited"]
)
def test_kinds_that_are_not_read_are_ignored(kind: str) -> None:
    assert read_json({"type": kind}) == Ignored(reason="type-not-read")
