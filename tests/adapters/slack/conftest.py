"""A Slack with one workspace, where the app is in a channel with people."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from pydantic import SecretStr

from patchwright.core.system.clock import SystemClock
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import TalkThread, ThreadKind
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.integrations.slack.adapter import Slack, connect
from patchwright.integrations.slack.tokens import StaticBotToken
from tests.fakes.slack.fake import FakeSlack


@dataclass(frozen=True)
class Office:
    """Who and what there is, by id."""

    team: str
    token: str
    channel: str
    ann: str
    bob: str

    def thread(self, ts: str, channel: str = "") -> TalkThread:
        return TalkThread(
            service="slack",
            place=f"{self.team}/{channel or self.channel}",
            kind=ThreadKind.CHAT,
            id=ts,
        )

    def actor(self, user: str) -> Actor:
        return Actor(service="slack", login=user, external_id=user, host=self.team)

    def trigger(self, thread: TalkThread, post_id: str = "") -> Trigger:
        return Trigger(
            key=f"slack:{thread}",
            kind=TriggerKind.BODY_MENTION,
            actor=self.actor(self.ann),
            thread=thread,
            request="fix the sum",
            post_id=post_id,
            installation=self.team,
        )


@pytest.fixture
def fake() -> Iterator[FakeSlack]:
    with FakeSlack(redirect_uris=("https://bot.example/slack/installed",)) as fake:
        yield fake


@pytest.fixture
def office(fake: FakeSlack) -> Office:
    team = fake.scene.add_workspace("Acme")
    token = fake.scene.install(team)
    ann = fake.scene.add_user(team, "ann", "Ann")
    bob = fake.scene.add_user(team, "bob", "Bob B.")
    channel = fake.scene.add_channel(team, "dev", (ann, bob))
    return Office(team=team, token=token, channel=channel, ann=ann, bob=bob)


@pytest.fixture
def slack(fake: FakeSlack, office: Office) -> Slack:
    tokens = StaticBotToken(SecretStr(office.token))
    return connect(fake.api_url, tokens=tokens, clock=SystemClock())
