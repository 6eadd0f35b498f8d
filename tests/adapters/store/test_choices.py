"""What was chosen once and for all stays chosen until somebody chooses anew."""

import pytest

from patchwright.core.types.base import AccountId
from patchwright.core.types.threads import RepoRef, TalkThread, ThreadKind
from patchwright.resolver.run_store import DEFAULT_REPOSITORY, consent_name, place_scope
from patchwright.workers.db.tables import choices
from patchwright.workers.store.choices import ChoiceStore, account_scope, move_choices
from tests.adapters.store.world import REPO, World

CHANNEL = place_scope(
    TalkThread(service="slack", place="T1/C1", kind=ThreadKind.CHAT, id="1.2")
)
ALICE = account_scope(AccountId("a1"))
NEW = RepoRef(forge="github", full_name="acme/store")


@pytest.fixture
def chosen(world: World) -> ChoiceStore:
    return ChoiceStore(world.database)


def choose(
    world: World, chosen: ChoiceStore, scope: str, value: object, name: str = ""
) -> None:
    known_as = name or DEFAULT_REPOSITORY
    chosen.put(scope, known_as, str(value), by="a1", now=world.clock.now())


def test_a8_a_default_counts_in_its_own_scope(
    world: World, chosen: ChoiceStore
) -> None:
    choose(world, chosen, CHANNEL, REPO)
    choose(world, chosen, ALICE, NEW)
    assert (CHANNEL, ALICE) == ("slack:T1/C1", "account:a1")
    assert chosen.default_of(CHANNEL) == REPO
    assert chosen.default_of(ALICE) == NEW
    assert chosen.default_of("slack:T1/C2") is None


def test_a8_the_newest_choice_counts(world: World, chosen: ChoiceStore) -> None:
    choose(world, chosen, CHANNEL, REPO)
    world.clock.advance(60)
    choose(world, chosen, CHANNEL, NEW)
    [row] = world.rows(choices)
    assert row["value"] == "github:acme/store"
    assert row["chosen_by"] == "a1"
    assert row["chosen_at"] == world.clock.now()


def test_a8_a_choice_can_be_forgotten(world: World, chosen: ChoiceStore) -> None:
    choose(world, chosen, CHANNEL, REPO)
    choose(world, chosen, CHANNEL, "share", consent_name(REPO))
    chosen.forget(CHANNEL, DEFAULT_REPOSITORY)
    assert chosen.default_of(CHANNEL) is None
    assert chosen.get(CHANNEL, consent_name(REPO)) == "share"


def test_c7_consent_is_for_one_repository(world: World, chosen: ChoiceStore) -> None:
    choose(world, chosen, CHANNEL, "share", consent_name(REPO))
    assert chosen.get(CHANNEL, consent_name(REPO)) == "share"
    assert chosen.get(CHANNEL, consent_name(NEW)) is None


def test_a_default_follows_its_repository_and_consent_does_not(
    world: World, chosen: ChoiceStore
) -> None:
    choose(world, chosen, CHANNEL, REPO)
    choose(world, chosen, CHANNEL, "share", consent_name(REPO))
    with world.database.writing() as connection:
        move_choices(connection, REPO, NEW)
    assert chosen.default_of(CHANNEL) == NEW
    assert chosen.get(CHANNEL, consent_name(REPO)) is None
    assert chosen.get(CHANNEL, consent_name(NEW)) is None
