"""A GitLab with a project in a sub-group, the bot's user, and people."""

from collections.abc import Iterator

import pytest
from pydantic import SecretStr

from patchwright.core.system.clock import SystemClock
from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadKind
from patchwright.integrations.gitlab.adapter import GitLab, connect_token
from patchwright.integrations.gitlab.connection import GitLabAddresses
from tests.fakes.clock import FakeClock
from tests.fakes.gitlab.fake import FakeGitLab
from tests.fakes.gitlab.site import Place
from tests.fakes.gitlab.state import Level

PATH = "acme/tools/shop"
SHOP = RepoRef(forge="gitlab", full_name=PATH)


def issue_ref(number: int) -> ForgeThread:
    return ForgeThread(repo=SHOP, kind=ThreadKind.ISSUE, number=number)


def merge_ref(number: int) -> ForgeThread:
    return ForgeThread(repo=SHOP, kind=ThreadKind.MERGE_REQUEST, number=number)


@pytest.fixture
def clock() -> FakeClock:
    """Return GitLab's clock, which a test moves on."""
    return FakeClock()


@pytest.fixture
def fake(clock: FakeClock) -> Iterator[FakeGitLab]:
    with FakeGitLab(Place(prefix="/gitlab"), clock=clock) as fake:
        fake.add_project(PATH, default_branch="trunk", files={"a.py": "1\n"})
        fake.add_user("ann")
        fake.grant("acme", "ann", Level.DEVELOPER)
        yield fake


def connect(fake: FakeGitLab, token: str) -> GitLab:
    return connect_token(
        GitLabAddresses(base_url=fake.base_url), SecretStr(token), clock=SystemClock()
    )


@pytest.fixture
def gitlab(fake: FakeGitLab) -> Iterator[GitLab]:
    """Act as a user of the bot's own, a developer of the group above all."""
    token = fake.add_user("robot", bot=True)
    fake.grant("acme", "robot", Level.DEVELOPER)
    connected = connect(fake, token)
    yield connected
    connected.close()
