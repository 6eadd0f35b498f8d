"""The fake Slack refuses what Slack refuses."""

from typing import Any

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from tests.adapters.slack.conftest import Office
from tests.fakes.slack.fake import FakeSlack
from tests.fakes.slack.scene import SCOPES

SECTION = {"type": "section", "text": {"type": "mrkdwn", "text": "x"}}


def client_of(fake: FakeSlack, token: str) -> WebClient:
    return WebClient(token=token, base_url=f"{fake.api_url}/", retry_handlers=[])


def error_of(client: WebClient, method: str, **args: Any) -> str:
    with pytest.raises(SlackApiError) as caught:
        client.api_call(method, json=args)
    error: str = caught.value.response["error"]
    return error


def post_error(fake: FakeSlack, office: Office, **args: Any) -> str:
    client = client_of(fake, office.token)
    message = {"channel": office.channel, "text": "x", **args}
    return error_of(client, "chat.postMessage", **message)


def test_tokens(fake: FakeSlack, office: Office) -> None:
    assert error_of(client_of(fake, ""), "auth.test") == "not_authed"
    assert error_of(client_of(fake, "xoxb-EXAMPLE"), "auth.test") == "invalid_auth"
    fake.uninstall(office.team)
    assert error_of(client_of(fake, office.token), "auth.test") == "invalid_auth"


def test_scopes(fake: FakeSlack, office: Office) -> None:
    token = fake.scene.install(office.team, scopes=SCOPES - {"chat:write"})
    args = {"channel": office.channel, "text": "x"}
    client = client_of(fake, token)
    assert error_of(client, "chat.postMessage", **args) == "missing_scope"


def test_channels(fake: FakeSlack, office: Office) -> None:
    public = fake.scene.add_channel(office.team, "public", (), with_bot=False)
    private = fake.scene.add_channel(
        office.team, "private", (), private=True, with_bot=False
    )
    assert post_error(fake, office, channel="C404") == "channel_not_found"
    assert post_error(fake, office, channel=public) == "not_in_channel"
    assert post_error(fake, office, channel=private) == "channel_not_found"
    other = fake.scene.add_workspace("Other")
    fake.scene.install(other)
    theirs = fake.scene.add_channel(other, "theirs", ())
    assert post_error(fake, office, channel=theirs) == "channel_not_found"


def test_threads(fake: FakeSlack, office: Office) -> None:
    root = fake.say(office.ann, office.channel, "Hi")
    reply = fake.say(office.ann, office.channel, "Ho", root)
    assert post_error(fake, office, thread_ts="1.000001") == "thread_not_found"
    assert post_error(fake, office, thread_ts=reply) == "cannot_reply_to_message"


def test_other_peoples_messages(fake: FakeSlack, office: Office) -> None:
    ts = fake.say(office.ann, office.channel, "Hi")
    args = {"channel": office.channel, "ts": ts, "text": "x"}
    client = client_of(fake, office.token)
    assert error_of(client, "chat.update", **args) == "cant_update_message"
    args["ts"] = "1.000001"
    assert error_of(client, "chat.update", **args) == "message_not_found"


@pytest.mark.parametrize(
    ("args", "error"),
    [
        ({"text": ""}, "no_text"),
        ({"text": "x" * 40_001}, "msg_too_long"),
        ({"blocks": [SECTION] * 51}, "invalid_blocks"),
        ({"blocks": [{**SECTION, "block_id": "a"}] * 2}, "invalid_blocks"),
        ({"blocks": [{"type": "section"}]}, "invalid_blocks"),
        ({"blocks": [{"type": "carousel"}]}, "invalid_blocks"),
        ({"blocks": [{"type": "input"}]}, "invalid_blocks"),
        ({"metadata": {"event_type": "a b", "event_payload": {}}}, "metadata"),
        ({"metadata": {"event_type": "a", "event_payload": {"a": ["b"]}}}, "metadata"),
        ({"metadata": {"event_type": "a"}}, "metadata"),
        ({"colour": "red"}, "invalid_arg_name"),
    ],
)
def test_messages(
    fake: FakeSlack, office: Office, args: dict[str, Any], error: str
) -> None:
    assert error in post_error(fake, office, **args)


def section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def button(label: str, action_id: str, **more: str) -> dict[str, Any]:
    text = {"type": "plain_text", "text": label}
    return {"type": "button", "text": text, "action_id": action_id, **more}


def actions(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": "actions", "elements": list(elements)}


@pytest.mark.parametrize(
    "block",
    [
        section("x" * 3_001),
        section(""),
        actions(),
        actions(button("x" * 76, "a")),
        actions(button("x", "a"), button("y", "a")),
        actions(button("x", "a" * 256)),
        actions(button("x", "a", value="v" * 2_001)),
        actions(button("x", "a", style="pink")),
        actions({"type": "static_select", "action_id": "a", "options": []}),
        {"type": "header", "text": {"type": "mrkdwn", "text": "x"}},
    ],
)
def test_blocks(fake: FakeSlack, office: Office, block: dict[str, Any]) -> None:
    assert post_error(fake, office, blocks=[block]) == "invalid_blocks"


def test_too_much_in_all(fake: FakeSlack, office: Office) -> None:
    blocks = [section("x" * 2_900)] * 5
    assert post_error(fake, office, blocks=blocks) == "msg_blocks_too_long"


def test_a_word_in_private_to_somebody_elsewhere(
    fake: FakeSlack, office: Office
) -> None:
    fake.scene.leave(office.channel, office.bob)
    client = client_of(fake, office.token)
    args = {"channel": office.channel, "user": office.bob, "text": "x"}
    assert error_of(client, "chat.postEphemeral", **args) == "user_not_in_channel"


def test_a_reading_method_takes_no_json(fake: FakeSlack, office: Office) -> None:
    client = client_of(fake, office.token)
    assert error_of(client, "users.info", user=office.ann) == "invalid_arguments"


def test_nobody_speaks_where_they_are_not(fake: FakeSlack, office: Office) -> None:
    fake.scene.leave(office.channel, office.bob)
    with pytest.raises(ValueError, match="is not in"):
        fake.say(office.bob, office.channel, "Hi")


def test_what_does_not_stand_there_is_not_pressed(
    fake: FakeSlack, office: Office
) -> None:
    ts = fake.say(office.ann, office.channel, "Hi")
    with pytest.raises(LookupError, match="no such button"):
        fake.press(office.ann, fake.message(office.channel, ts), "Stop")
