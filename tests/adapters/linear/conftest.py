"""A Linear with one team, one issue in it, and people; we are an app there."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from patchwright.core.types.people import Actor
from patchwright.core.types.threads import TalkThread, ThreadKind
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.integrations.linear.adapter import Linear, connect_linear
from patchwright.integrations.linear.channel import LinearChannel
from patchwright.integrations.linear.settings import LinearSettings
from patchwright.integrations.linear.tokens import StaticLinearToken
from tests.fakes.clock import FakeClock
from tests.fakes.linear.fake import FakeLinear

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Scene:
    """One workspace, our end of it, and the issue that ann opened."""

    fake: FakeLinear
    settings: LinearSettings
    linear: Linear
    clock: FakeClock
    ann: str
    key: str

    @property
    def channel(self) -> LinearChannel:
        return self.linear.channel

    @property
    def ref(self) -> TalkThread:
        return self.ref_of(self.key)

    def ref_of(self, key: str) -> TalkThread:
        return TalkThread(
            service="linear",
            place=f"acme/{key.partition('-')[0]}",
            kind=ThreadKind.TICKET,
            id=key,
            lasting_id=self.fake.issue(key).id,
        )

    @property
    def actor(self) -> Actor:
        return Actor(service="linear", login="Ann", external_id=self.ann, host="acme")

    def asked(self, post_id: str = "") -> Trigger:
        """Return a request of ann's in the issue."""
        return Trigger(
            key=f"linear:acme:{post_id or 'body'}",
            kind=TriggerKind.COMMENT_MENTION,
            actor=self.actor,
            thread=self.ref,
            request="please fix this",
            post_id=post_id,
        )

    def begin_session(self) -> None:
        """Let ann hand the issue to our app."""
        self.fake.delegate(self.key, self.ann, self.fake.bot)


def connect(fake: FakeLinear, clock: FakeClock, **more: object) -> Linear:
    settings = LinearSettings.model_validate(fake.settings(**more))
    token = settings.token
    assert token is not None
    return connect_linear(settings, StaticLinearToken(token), clock)


@pytest.fixture
def scene() -> Iterator[Scene]:
    clock = FakeClock(NOON)
    with FakeLinear(clock=clock) as fake:
        ann = fake.add_user("ann", "Ann Lee")
        fake.add_team("ENG")
        key = fake.create("ENG", ann, "Wrong sum", "It is off by one.")
        settings = LinearSettings.model_validate(fake.settings())
        yield Scene(fake, settings, connect(fake, clock), clock, ann, key)
