"""Whose account an actor's is."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from patchwright.core.types.base import RandomIds
from patchwright.core.types.people import Actor
from patchwright.workers.db.tables import accounts, identities
from patchwright.workers.store.accounts import AccountStore
from tests.adapters.store.world import ALICE, World

HOST = "github.test"


@pytest.fixture
def people(world: World) -> AccountStore:
    return AccountStore(world.database, RandomIds(), world.clock)


def test_an_account_is_made_once(world: World, people: AccountStore) -> None:
    assert people.account_of(ALICE, HOST) == people.account_of(ALICE, HOST)
    assert len(world.rows(accounts)) == 1


def test_an_account_is_made_once_however_many_ask(
    world: World, people: AccountStore
) -> None:
    with ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(lambda _: people.account_of(ALICE, HOST), range(16)))
    assert len(ids) == 1
    assert len(world.rows(accounts)) == 1


def test_a_new_login_is_the_same_person(world: World, people: AccountStore) -> None:
    before = people.account_of(ALICE, HOST)
    renamed = ALICE.replace(login="alicia")
    assert people.account_of(renamed, HOST) == before
    assert [row["login"] for row in world.rows(identities)] == ["alicia"]


def test_somebody_who_took_over_a_login_is_somebody_else(people: AccountStore) -> None:
    before = people.account_of(ALICE, HOST)
    impostor = ALICE.replace(external_id="2")
    assert people.account_of(impostor, HOST) != before


def test_the_same_id_elsewhere_is_somebody_else(people: AccountStore) -> None:
    before = people.account_of(ALICE, HOST)
    other_service = ALICE.replace(service="gitlab")
    assert people.account_of(ALICE, "github.example.com") != before
    assert people.account_of(other_service, HOST) != before


def test_without_an_id_the_login_counts_in_any_letter_case(
    people: AccountStore,
) -> None:
    bob = Actor(service="github", login="Bob")
    again = Actor(service="github", login="bob")
    assert people.account_of(bob, HOST) == people.account_of(again, HOST)
