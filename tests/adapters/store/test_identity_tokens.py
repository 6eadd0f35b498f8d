"""Tokens of people: renewed once, kept through failures, and given up for a reason."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Barrier, BrokenBarrierError

import pytest
from pydantic import SecretStr

from patchwright.core.system.clock import Clock
from patchwright.core.types.base import AccountId
from patchwright.core.types.errors import (
    AuthenticationError,
    ServiceError,
    ServiceUnavailableError,
)
from patchwright.core.types.people import PersonalToken
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import secrets_table
from patchwright.workers.store.identity_tokens import forget_grant
from tests.adapters.store.linking_world import Linking, open_linking
from tests.adapters.store.world import ALICE, World

EIGHT_HOURS = timedelta(hours=8)
MINUTE_S = 60
PROCESSES = 4


@dataclass
class Forge:
    """Renews as GitHub does: each refresh token counts once.

    It takes its time with `competing_pulls`: until a second one asks, or half a second.
    With `meanwhile` it is called before the answer.
    """

    clock: Clock
    counts: list[str] = field(default_factory=lambda: ["refresh-0"])
    renewed: int = 0
    failures: list[ServiceError] = field(default_factory=list)
    competing_pulls: Barrier | None = None
    meanwhile: Callable[[], None] | None = None

    def first(self) -> PersonalToken:
        return self._grant("access-0", "refresh-0")

    def anew(self) -> PersonalToken:
        self.counts.append("refresh-anew")
        return self._grant("access-anew", "refresh-anew")

    def renew(self, refresh_token: SecretStr) -> PersonalToken:
        if self.failures:
            raise self.failures.pop()
        if self.competing_pulls:
            with suppress(BrokenBarrierError):
                self.competing_pulls.wait(0.5)
        if self.meanwhile:
            self.meanwhile()
        if refresh_token.get_secret_value() not in self.counts:
            raise AuthenticationError("bad_refresh_token")
        self.counts.clear()
        self.renewed += 1
        self.counts.append(f"refresh-{self.renewed}")
        return self._grant(f"access-{self.renewed}", self.counts[0])

    def _grant(self, access: str, refresh: str) -> PersonalToken:
        return PersonalToken(
            access_token=SecretStr(access),
            expires_at=self.clock.now() + EIGHT_HOURS,
            refresh_token=SecretStr(refresh),
        )


@pytest.fixture
def forge(world: World) -> Forge:
    return Forge(world.clock)


@pytest.fixture
def linking(world: World, forge: Forge) -> Linking:
    return open_linking(world, forge.renew)


@pytest.fixture
def account(linking: Linking, forge: Forge) -> AccountId:
    return linking.link(ALICE, grant=forge.first())


@pytest.fixture
def token(linking: Linking, account: AccountId) -> Callable[[], str | None]:
    def fetch() -> str | None:
        found = linking.tokens.fetch(account)
        return found.get_secret_value() if found else None

    return fetch


@pytest.fixture
def processes(world: World, database_url: str, forge: Forge) -> Iterator[list[Linking]]:
    """Return what several processes with one database work with."""
    with ExitStack() as stack:
        databases = [
            stack.enter_context(closing(Database(database_url)))
            for _ in range(PROCESSES)
        ]
        yield [open_linking(World(one, world.clock), forge.renew) for one in databases]


def test_a_token_is_renewed_shortly_before_its_end(
    world: World, token: Callable[[], str | None]
) -> None:
    world.clock.advance(EIGHT_HOURS.total_seconds() - 5 * MINUTE_S - 1)
    assert token() == "access-0"
    world.clock.advance(1)
    assert token() == "access-1"
    assert token() == "access-1"
    assert "access" not in str(world.rows(secrets_table))


def test_a_token_without_an_end_is_never_renewed(
    world: World, linking: Linking
) -> None:
    account = linking.link(ALICE, grant=PersonalToken(access_token=SecretStr("gho_1")))
    world.clock.advance(365 * 24 * 3600)
    assert linking.tokens.fetch(account) == SecretStr("gho_1")


def test_processes_that_want_it_at_once_renew_it_once(
    world: World, forge: Forge, account: AccountId, processes: list[Linking]
) -> None:
    world.clock.advance(EIGHT_HOURS.total_seconds())
    together, forge.competing_pulls = Barrier(PROCESSES), Barrier(2)

    def fetch(process: Linking) -> SecretStr | None:
        together.wait(10)
        return process.tokens.fetch(account)

    with ThreadPoolExecutor(PROCESSES) as pool:
        assert set(pool.map(fetch, processes)) == {SecretStr("access-1")}
    assert forge.renewed == 1


def test_s3_whoever_writes_does_not_wait_for_the_forge_to_answer(
    world: World,
    forge: Forge,
    linking: Linking,
    account: AccountId,
    token: Callable[[], str | None],
) -> None:
    world.clock.advance(EIGHT_HOURS.total_seconds())
    with ThreadPoolExecutor(1) as pool:

        def write() -> None:
            assert not pool.submit(linking.tokens.claim_report, account).result(5)

        forge.meanwhile = write
        assert token() == "access-1"


def test_s3_a_process_that_dies_while_it_renews_is_followed_by_another(
    world: World, forge: Forge, token: Callable[[], str | None]
) -> None:
    def die() -> None:
        raise KeyboardInterrupt

    world.clock.advance(EIGHT_HOURS.total_seconds() - MINUTE_S)
    forge.meanwhile = die
    with pytest.raises(KeyboardInterrupt):
        token()
    forge.meanwhile = None
    assert token() == "access-0"
    world.clock.advance(MINUTE_S)
    assert token() == "access-1"


def test_s3_who_waits_for_a_process_that_died_takes_over(
    world: World, forge: Forge, token: Callable[[], str | None]
) -> None:
    def die() -> None:
        raise KeyboardInterrupt

    world.clock.advance(EIGHT_HOURS.total_seconds())
    forge.meanwhile = die
    with pytest.raises(KeyboardInterrupt):
        token()
    forge.meanwhile = None
    assert token() == "access-1"
    assert 14 < sum(world.clock.slept) < 16


def test_s3_what_was_unlinked_or_linked_anew_meanwhile_stays_so(
    world: World,
    forge: Forge,
    linking: Linking,
    account: AccountId,
    token: Callable[[], str | None],
) -> None:
    def link_anew() -> None:
        assert linking.link(ALICE, grant=forge.anew()) == account

    def unlink() -> None:
        with world.database.writing() as connection:
            forget_grant(connection, account)

    world.clock.advance(EIGHT_HOURS.total_seconds())
    forge.meanwhile = link_anew
    assert token() == "access-anew"
    world.clock.advance(EIGHT_HOURS.total_seconds())
    forge.meanwhile = unlink
    assert token() is None
    assert world.rows(secrets_table) == []


def test_a_forge_that_fails_is_asked_again_later_and_the_token_kept(
    world: World,
    forge: Forge,
    linking: Linking,
    account: AccountId,
    token: Callable[[], str | None],
) -> None:
    forge.failures += [ServiceError("no"), ServiceUnavailableError("down")]
    world.clock.advance(EIGHT_HOURS.total_seconds() - MINUTE_S)
    assert token() == "access-0"
    # Asked at once, it would fail once more.
    assert token() == "access-0"
    assert len(forge.failures) == 1
    world.clock.advance(30)
    assert token() == "access-0"
    assert forge.failures == []
    world.clock.advance(59)
    assert token() is None
    world.clock.advance(1)
    assert token() == "access-1"
    assert not linking.tokens.claim_report(account)


def test_the_wait_between_two_tries_grows_to_an_hour(
    world: World, forge: Forge, token: Callable[[], str | None]
) -> None:
    world.clock.advance(EIGHT_HOURS.total_seconds())
    for _ in range(12):
        forge.failures.append(ServiceUnavailableError("down"))
        assert token() is None
        world.clock.advance(60 * MINUTE_S)
        assert forge.failures == []
    assert token() == "access-1"


def test_a_person_whose_token_is_worthless_is_told_once(
    world: World,
    forge: Forge,
    linking: Linking,
    account: AccountId,
    token: Callable[[], str | None],
) -> None:
    forge.counts.clear()
    world.clock.advance(EIGHT_HOURS.total_seconds() - MINUTE_S)
    assert not linking.tokens.claim_report(account)
    assert token() == "access-0"
    world.clock.advance(MINUTE_S)
    assert token() is None
    assert linking.tokens.claim_report(account)
    assert not linking.tokens.claim_report(account)
    assert len(world.rows(secrets_table)) == 1


def test_a_new_link_ends_that(
    world: World,
    forge: Forge,
    linking: Linking,
    account: AccountId,
    token: Callable[[], str | None],
) -> None:
    forge.counts.clear()
    world.clock.advance(EIGHT_HOURS.total_seconds())
    assert token() is None
    forge.counts.append("refresh-0")
    assert linking.link(ALICE, grant=forge.first()) == account
    assert token() == "access-0"
    assert not linking.tokens.claim_report(account)
    world.clock.advance(EIGHT_HOURS.total_seconds())
    assert token() == "access-1"


def test_somebody_who_never_linked_has_no_token(linking: Linking) -> None:
    account = linking.accounts.account_of(ALICE, "https://api.github.test")
    assert linking.tokens.fetch(account) is None
    assert not linking.tokens.claim_report(account)
