"""A GitHub with one repository, an App that is installed there, and people."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from pydantic import SecretStr

from patchwright.core.system.clock import SystemClock
from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadKind
from patchwright.integrations.github.adapter import GitHub, connect_app, connect_token
from patchwright.integrations.github.auth import MemoryTokenCache
from patchwright.integrations.github.connection import Addresses
from tests.fakes.github.fake import FakeGitHub

SHOP = RepoRef(forge="github", full_name="acme/shop")
APP_ID = 7


def issue_ref(number: int) -> ForgeThread:
    return ForgeThread(repo=SHOP, kind=ThreadKind.ISSUE, number=number)


@pytest.fixture
def fake() -> Iterator[FakeGitHub]:
    with FakeGitHub() as fake:
        fake.add_repository("acme/shop", default_branch="trunk", files={"a.py": "1\n"})
        fake.add_user("ann")
        fake.grant("acme/shop", "ann", "write")
        yield fake


def addresses_of(fake: FakeGitHub) -> Addresses:
    return Addresses(api_url=fake.api_url, web_url=fake.web_url)


@dataclass(frozen=True)
class AppKey:
    pem: SecretStr
    installation: int


@pytest.fixture
def app(fake: FakeGitHub) -> AppKey:
    pem = fake.add_app(APP_ID, "patchwright", "hook-secret")
    return AppKey(SecretStr(pem), fake.install_app(APP_ID, "acme", ["shop"]))


@pytest.fixture
def cache() -> MemoryTokenCache:
    return MemoryTokenCache()


@pytest.fixture
def as_app(fake: FakeGitHub, app: AppKey, cache: MemoryTokenCache) -> Iterator[GitHub]:
    github = connect_app(
        addresses_of(fake),
        str(APP_ID),
        app.pem,
        cache=cache,
        clock=SystemClock(),
        pause_s=0,
    )
    yield github
    github.close()


def connect(fake: FakeGitHub, token: str) -> GitHub:
    return connect_token(
        addresses_of(fake), SecretStr(token), clock=SystemClock(), pause_s=0
    )


@pytest.fixture
def as_user(fake: FakeGitHub) -> Iterator[GitHub]:
    token = fake.add_user("robot")
    fake.grant("acme/shop", "robot", "write")
    github = connect(fake, token)
    yield github
    github.close()
