"""What the fake Slack sends is signed, read by us, and of the form of real payloads."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from pydantic import SecretStr

from patchwright.core.channel import Offer
from patchwright.core.system.clock import SystemClock
from patchwright.core.types.triggers import (
    FormRequest,
    HomeRequest,
    InstallationChanged,
    OptionsRequest,
    ParsedWebhook,
    Trigger,
    TriggerKind,
)
from patchwright.integrations.slack.adapter import Slack
from patchwright.integrations.slack.views import options_of
from patchwright.integrations.slack.webhooks.reader import SlackReceiver
from patchwright.integrations.slack.webhooks.triggers import SlackTriggerRules
from tests.adapters.slack.conftest import Office
from tests.fakes.github.exchange import Request
from tests.fakes.github.server import Server, Wire
from tests.fakes.slack.fake import FakeSlack
from tests.fakes.slack.sending import Delivery


class Listener:
    """Reads what comes, and answers as our web edge would."""

    def __init__(self, secret: str) -> None:
        secrets = (SecretStr(secret),)
        self.readings: list[ParsedWebhook] = []
        self._receiver = SlackReceiver(secrets, SlackTriggerRules(), SystemClock())

    def respond(self, request: Request) -> Wire:
        reading = self._receiver.read(request.headers, request.body)
        self.readings.append(reading)
        body: object = {}
        if isinstance(reading, OptionsRequest):
            body = options_of([f"acme/{reading.query}", reading.query])
        return Wire(200, {}, json.dumps(body).encode())

    def triggers(self) -> list[Trigger]:
        return [one for one in self.readings if isinstance(one, Trigger)]


@pytest.fixture
def listener(fake: FakeSlack) -> Iterator[Listener]:
    listener = Listener(fake.app.signing_secret)
    with Server(listener.respond) as server:
        fake.send_to(f"{server.url}/api/integration/slack/events")
        yield listener


def test_a_mention_comes_twice_and_asks_once(
    fake: FakeSlack, office: Office, listener: Listener
) -> None:
    root = fake.mention(office.ann, office.channel, "fix it")
    assert [one.name for one in fake.deliveries] == ["message", "app_mention"]
    assert [one.status for one in fake.deliveries] == [200, 200]
    [trigger] = listener.triggers()
    assert trigger.thread == office.thread(root)
    assert trigger.request == "fix it"


def test_a_redelivery_means_the_same(
    fake: FakeSlack, office: Office, listener: Listener
) -> None:
    fake.mention(office.ann, office.channel, "fix it")
    fake.redeliver(fake.delivery("app_mention"))
    first, second = listener.triggers()
    assert first == second


def test_follow_ups_in_a_thread(
    fake: FakeSlack, office: Office, listener: Listener
) -> None:
    root = fake.mention(office.ann, office.channel, "fix it")
    fake.say(office.bob, office.channel, "Really?", root)
    fake.mention(office.ann, office.channel, "stop", root)
    kinds = [trigger.kind for trigger in listener.triggers()]
    assert kinds == [
        TriggerKind.BODY_MENTION,
        TriggerKind.REPLY,
        TriggerKind.COMMENT_MENTION,
    ]


def test_direct_messages_and_commands(
    fake: FakeSlack, office: Office, listener: Listener
) -> None:
    direct = fake.direct(office.ann)
    root = fake.say(office.ann, direct, "fix it")
    fake.slash(office.ann, office.channel, "fix that")
    first, second = listener.triggers()
    assert first.thread == office.thread(root, direct)
    assert second.request == "fix that"
    assert second.thread.id.startswith("cmd-")  # type: ignore[union-attr]


def test_edits_unfurls_and_deletions_ask_for_nothing(
    fake: FakeSlack, office: Office, listener: Listener
) -> None:
    ts = fake.say(office.ann, office.channel, "see https://example.com")
    fake.unfurl(office.channel, ts, "https://example.com")
    fake.edit(office.channel, ts, "see there")
    fake.delete(office.channel, ts)
    assert listener.triggers() == []
    assert all(one.status == 200 for one in fake.deliveries)


def test_buttons_pickers_and_forms(
    fake: FakeSlack, office: Office, slack: Slack, listener: Listener
) -> None:
    root = fake.mention(office.ann, office.channel, "fix it")
    offers = (
        Offer(words="Approve", command="approve"),
        Offer(words="More", command="budget", asks="How much more?"),
        Offer(words="Choose", picks_repository=True),
    )
    ts = slack.channel.post(office.thread(root), "Well?", offers)
    message = fake.message(office.channel, ts)
    fake.press(office.ann, message, "Approve")
    assert fake.search(office.ann, message, "shop") == ["acme/shop", "shop"]
    fake.pick(office.ann, message, "acme/shop")
    fake.press(office.ann, message, "More")
    wanted = listener.readings[-1]
    assert isinstance(wanted, FormRequest)
    slack.open_form(wanted)
    fake.submit(fake.form(office.ann), {"How much more?": "+2"})
    _, *pressed = listener.triggers()
    requests = [(one.thread, one.request) for one in pressed]
    thread = office.thread(root)
    assert requests == [
        (thread, "approve"),
        (thread, "acme/shop"),
        (thread, "budget +2"),
    ]


def test_a_button_that_one_person_sees_is_about_the_thread(
    fake: FakeSlack, office: Office, slack: Slack, listener: Listener
) -> None:
    root = fake.mention(office.ann, office.channel, "fix it")
    picker = Offer(words="Choose", picks_repository=True)
    slack.channel.tell_privately(
        office.thread(root), office.actor(office.ann), "Which one?", (picker,)
    )
    [seen] = fake.ephemerals(office.ann)
    fake.pick(office.ann, seen, "acme/shop")
    assert listener.triggers()[-1].thread == office.thread(root)


def test_shortcuts_home_and_removal(
    fake: FakeSlack, office: Office, listener: Listener
) -> None:
    ts = fake.say(office.bob, office.channel, "The sum is wrong")
    fake.message_shortcut(office.ann, office.channel, ts)
    [trigger] = listener.triggers()
    assert trigger.thread == office.thread(ts)
    fake.shortcut(office.ann, "new_request")
    fake.open_home(office.ann)
    fake.uninstall(office.team)
    kinds = {type(one) for one in listener.readings}
    assert {FormRequest, HomeRequest, InstallationChanged} <= kinds


def payload_of(delivery: Delivery) -> dict[str, Any]:
    text = delivery.body.decode()
    if delivery.content_type.endswith("json"):
        found: dict[str, Any] = json.loads(text)
        return found
    fields = {key: values[0] for key, values in parse_qs(text).items()}
    return json.loads(fields["payload"]) if "payload" in fields else fields


# What depends on a message, or came to be told after those were recorded.
OPTIONAL = {
    "enterprise_id",
    "enterprise_name",
    "authed_users",
    "user_profile",
    "source_team",
    "user_team",
    "channel_name",
    "response_urls",
    "view",
}


@pytest.fixture
def acted(fake: FakeSlack, office: Office, slack: Slack) -> FakeSlack:
    """Let people do one of each."""
    root = fake.mention(office.ann, office.channel, "fix it")
    fake.say(office.ann, office.channel, "please", root)
    offers = (
        Offer(words="Approve", command="approve"),
        Offer(words="Choose", picks_repository=True),
    )
    ts = slack.channel.post(office.thread(root), "Well?", offers)
    fake.press(office.ann, fake.message(office.channel, ts), "Approve")
    fake.search(office.ann, fake.message(office.channel, ts), "shop")
    fake.react(office.ann, office.channel, root, "x")
    fake.message_shortcut(office.ann, office.channel, root)
    fake.shortcut(office.ann, "new_request")
    fake.open_home(office.ann)
    fake.uninstall(office.team)
    return fake


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("app_mention", "events/app_mention.json"),
        ("message", "events/message.channels.thread-reply.json"),
        ("reaction_added", "events/reaction_added.json"),
        ("app_home_opened", "events/app_home_opened.json"),
        ("app_uninstalled", "events/app_uninstalled.json"),
        ("tokens_revoked", "events/tokens_revoked.json"),
        ("block_actions", "interactions/block_actions.json"),
        ("block_suggestion", "interactions/block_suggestion.json"),
        ("message_action", "interactions/message_action.json"),
        ("shortcut", "interactions/shortcut.json"),
    ],
)
def test_payloads_have_what_recorded_ones_have(
    acted: FakeSlack, corpus: Path | None, name: str, file: str
) -> None:
    ours = payload_of(acted.delivery(name))
    assert ours["token"]
    if corpus is not None:
        theirs = json.loads((corpus / "slack" / file).read_bytes())
        assert missing(ours, theirs) == []


def missing(ours: Any, theirs: Any, where: str = "") -> list[str]:
    """Name the fields that real payloads have and ours lack; views are of any form."""
    if not (isinstance(ours, dict) and isinstance(theirs, dict)):
        return []
    lacking = [
        f"{where}.{key}" for key in theirs if key not in ours and key not in OPTIONAL
    ]
    for key in theirs.keys() & ours.keys() - {"container"}:
        lacking += missing(ours[key], theirs[key], f"{where}.{key}")
    return lacking
