"""A Jira of either flavour with one project, one ticket in it, and people."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from patchwright.core.types.people import Actor
from patchwright.core.types.threads import TalkThread, ThreadKind
from patchwright.integrations.jira.adapter import Jira, connect_jira
from patchwright.integrations.jira.channel import JiraChannel
from tests.fakes.clock import FakeClock
from tests.fakes.jira.fake import FakeJira

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Scene:
    """One Jira, our end of it, and the ticket that ann opened."""

    fake: FakeJira
    jira: Jira
    clock: FakeClock
    ann: str
    key: str

    @property
    def channel(self) -> JiraChannel:
        return self.jira.channel

    @property
    def ref(self) -> TalkThread:
        return self.ref_of(self.key)

    def ref_of(self, key: str) -> TalkThread:
        place = f"{self.jira.api.host}/{key.rpartition('-')[0]}"
        return TalkThread(service="jira", place=place, kind=ThreadKind.TICKET, id=key)

    @property
    def actor(self) -> Actor:
        host = self.jira.api.host
        return Actor(service="jira", login="Ann", external_id=self.ann, host=host)


def set_up(*, cloud: bool) -> Iterator[Scene]:
    clock = FakeClock(NOON)
    with FakeJira(cloud=cloud, clock=clock) as fake:
        ann = fake.add_user("ann")
        fake.add_project("APP")
        key = fake.create("APP", ann, "Wrong sum", "It is off by one.")
        jira = connect_jira(fake.settings(), clock)
        yield Scene(fake, jira, clock, ann, key)
        jira.close()


@pytest.fixture(params=["cloud", "data center"])
def scene(request: pytest.FixtureRequest) -> Iterator[Scene]:
    yield from set_up(cloud=request.param == "cloud")


@pytest.fixture
def cloud() -> Iterator[Scene]:
    yield from set_up(cloud=True)


@pytest.fixture
def data_center() -> Iterator[Scene]:
    yield from set_up(cloud=False)
