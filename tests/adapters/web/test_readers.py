"""Who may see a run: whoever may read its repository, as far as we know."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from pydantic import SecretStr

from patchwright.core.types.people import Actor
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.github.adapter import GitHub, connect_token
from patchwright.integrations.github.connection import Addresses
from patchwright.workers.web.run_access import RepositoryAccessCache
from tests.fakes.github.fake import FakeGitHub
from tests.flow.clock import MovableClock

SHOP = RepoRef(forge="github", full_name="acme/shop")


@pytest.fixture
def fake() -> Iterator[FakeGitHub]:
    with FakeGitHub() as fake:
        fake.add_repository("acme/shop", private=True)
        fake.add_user("alice")
        fake.add_user("eve")
        fake.grant("acme/shop", "alice", "read")
        yield fake


@pytest.fixture
def github(fake: FakeGitHub) -> Iterator[GitHub]:
    token = SecretStr(fake.add_user("patchwright"))
    fake.grant("acme/shop", "patchwright", "write")
    addresses = Addresses(api_url=fake.api_url, web_url=fake.web_url)
    with closing(connect_token(addresses, token, clock=MovableClock())) as github:
        yield github


def person(fake: FakeGitHub, login: str) -> Actor:
    known = fake.world.user(login)
    return Actor(service="github", login=login, external_id=str(known.id))


def test_reading_is_enough_and_necessary(fake: FakeGitHub, github: GitHub) -> None:
    readers = RepositoryAccessCache(github.forge.fetch_permission, MovableClock())
    assert readers.is_allowed(SHOP, person(fake, "alice"))
    assert not readers.is_allowed(SHOP, person(fake, "eve"))


def test_who_has_taken_over_a_login_may_not(github: GitHub) -> None:
    readers = RepositoryAccessCache(github.forge.fetch_permission, MovableClock())
    other = Actor(service="github", login="alice", external_id="1")
    assert not readers.is_allowed(SHOP, other)


def test_an_answer_counts_for_a_minute(fake: FakeGitHub, github: GitHub) -> None:
    clock = MovableClock()
    readers, alice = (
        RepositoryAccessCache(github.forge.fetch_permission, clock),
        "alice",
    )
    assert readers.is_allowed(SHOP, person(fake, alice))
    fake.grant("acme/shop", alice, "none")
    clock.advance(55)
    assert readers.is_allowed(SHOP, person(fake, alice))
    clock.advance(10)
    assert not readers.is_allowed(SHOP, person(fake, alice))
    asked = [one for one in fake.requests if one.path.endswith("/permission")]
    assert len(asked) == 2


def test_not_knowing_means_no_and_is_asked_again(
    fake: FakeGitHub, github: GitHub
) -> None:
    readers = RepositoryAccessCache(github.forge.fetch_permission, MovableClock())
    fake.fail_next("GET", ".*/permission", 403)
    assert not readers.is_allowed(SHOP, person(fake, "alice"))
    assert readers.is_allowed(SHOP, person(fake, "alice"))
