"""A link: whose identities belong together from then on, and what goes on."""

import pytest
from pydantic import SecretStr

from patchwright.core.types.base import RandomIds
from patchwright.core.types.people import Actor, PersonalToken
from patchwright.resolver.job import JobState
from patchwright.workers.db.tables import account_audit, identities, secrets_table
from patchwright.workers.store.accounts import forget_person, unlink, unlink_host
from tests.adapters.store.linking_world import (
    API,
    BROWSER,
    GRANT,
    JO,
    Linking,
    open_linking,
)
from tests.adapters.store.world import ALICE, World

BOB = Actor(service="github", login="bob", external_id="2")
KIM = Actor(service="jira", login="kim", external_id="5b10", host="acme.atlassian.net")


@pytest.fixture
def linking(world: World) -> Linking:
    return open_linking(world)


def audit(world: World) -> list[tuple[object, ...]]:
    rows = sorted(world.rows(account_audit), key=lambda row: str(row["what"]))
    return [(row["what"], row["identity"], row["by"]) for row in rows]


def test_a_linked_actor_is_the_person_of_the_forge(linking: Linking) -> None:
    assert linking.person_of() is None
    account = linking.link(ALICE)
    assert linking.person_of() == ALICE
    assert linking.accounts.account_of(JO, JO.host) == account
    assert linking.accounts.person_of(JO, "github", "https://other.test") is None
    elsewhere = JO.replace(host="T2")
    assert linking.person_of(elsewhere) is None


def test_several_identities_may_be_one_persons(linking: Linking) -> None:
    assert linking.link(ALICE) == linking.link(ALICE, KIM)
    assert linking.person_of(KIM) == ALICE


def test_an_identity_that_is_linked_anew_moves(world: World, linking: Linking) -> None:
    linking.link(ALICE)
    linking.link(BOB)
    assert linking.person_of() == BOB
    rows = [row for row in world.rows(identities) if row["service"] == "slack"]
    assert len(rows) == 1
    assert audit(world) == [
        ("linked", "slack:T1:U1", f"github:{API}:1"),
        ("linked", "slack:T1:U1", f"github:{API}:2"),
        ("unlinked", "slack:T1:U1", f"github:{API}:2"),
    ]


def test_an_account_from_before_the_link_is_left(linking: Linking) -> None:
    before = linking.accounts.account_of(JO, JO.host)
    assert linking.link(ALICE) != before


def test_a_link_counts_once(linking: Linking, world: World) -> None:
    digest = linking.arrive(ALICE)
    assert linking.confirm(digest, ALICE) == ()
    assert linking.confirm(digest, ALICE) is None
    assert len(audit(world)) == 1


def test_only_who_was_shown_is_linked_in_the_browser_where_they_were(
    linking: Linking,
) -> None:
    digest = linking.arrive(ALICE)
    assert linking.confirm(digest, BOB) is None
    assert linking.confirm(digest, ALICE, "another browser") is None
    assert linking.person_of() is None


def test_nobody_is_proven_in_another_browser_or_too_late(
    world: World, linking: Linking
) -> None:
    digest = linking.arrive(ALICE)
    request = linking.request(digest)
    assert not linking.linker.prove(request, "another browser", BOB, GRANT)
    world.clock.advance(15 * 60)
    assert not linking.linker.prove(request, BROWSER, BOB, GRANT)
    assert linking.confirm(digest, ALICE) is None


def test_to_set_out_again_forgets_who_was_there(linking: Linking) -> None:
    digest = linking.arrive(ALICE)
    assert linking.links.begin(digest, BROWSER, "again")
    assert linking.request(digest).person is None
    assert linking.confirm(digest, ALICE) is None


def test_the_token_is_kept_with_the_link_and_not_before(
    world: World, linking: Linking
) -> None:
    digest = linking.arrive(ALICE)
    account = linking.accounts.account_of(ALICE, API)
    assert linking.tokens.fetch(account) is None
    linking.confirm(digest, ALICE)
    assert linking.tokens.fetch(account) == GRANT.access_token
    assert [row["owner"] for row in world.rows(secrets_table)] == [account]
    assert GRANT.access_token.get_secret_value() not in str(world.rows(secrets_table))


def test_the_token_of_who_did_not_confirm_is_forgotten(
    world: World, linking: Linking
) -> None:
    linking.arrive(ALICE)
    world.clock.advance(15 * 60)
    linking.link(BOB, KIM)
    assert [row["name"] for row in world.rows(secrets_table)] == ["user-token"]


def test_what_the_person_asked_for_goes_on(world: World, linking: Linking) -> None:
    mine, others = linking.ask(thread="1.1"), linking.ask(KIM, "1.2")
    digest = linking.arrive(ALICE)
    assert linking.confirm(digest, ALICE) == (mine,)
    assert world.job(mine).state is JobState.QUEUED
    assert world.job(others).state is JobState.WAITING_USER


def test_an_actor_of_the_same_id_elsewhere_wakes_nothing(linking: Linking) -> None:
    linking.ask()
    elsewhere = JO.replace(host="T2")
    assert linking.confirm(linking.arrive(ALICE, elsewhere), ALICE) == ()


def test_an_unlinked_actor_is_nobody(world: World, linking: Linking) -> None:
    account = linking.link(ALICE)
    linking.link(ALICE, KIM)
    with world.database.writing() as connection:
        assert unlink(connection, RandomIds(), JO, "themselves", world.clock.now())
        assert not unlink(connection, RandomIds(), JO, "themselves", world.clock.now())
    assert (linking.person_of(), linking.person_of(KIM)) == (None, ALICE)
    assert linking.tokens.fetch(account)
    assert ("unlinked", "slack:T1:U1", "themselves") in audit(world)


def test_the_token_goes_with_the_last_identity(world: World, linking: Linking) -> None:
    linking.link(ALICE)
    with world.database.writing() as connection:
        unlink(connection, RandomIds(), JO, "themselves", world.clock.now())
    assert world.rows(secrets_table) == []


def test_a_workspace_that_uninstalls_unlinks_its_people(
    world: World, linking: Linking
) -> None:
    ann = JO.replace(external_id="U2")
    elsewhere = JO.replace(host="T2")
    for actor, person in ((JO, ALICE), (ann, BOB), (elsewhere, BOB)):
        linking.link(person, actor)
    with world.database.writing() as connection:
        unlink_host(connection, RandomIds(), "slack", "T1", world.clock.now())
    assert [linking.person_of(one) for one in (JO, ann, elsewhere)] == [None, None, BOB]


def test_who_takes_their_word_back_stays_linked_without_a_token(
    world: World, linking: Linking
) -> None:
    account = linking.link(ALICE)
    with world.database.writing() as connection:
        forget_person(connection, RandomIds(), BOB, world.clock.now())
    assert linking.tokens.fetch(account)
    with world.database.writing() as connection:
        forget_person(connection, RandomIds(), ALICE, world.clock.now())
    assert linking.tokens.fetch(account) is None
    assert linking.person_of() == ALICE
    assert ("tokens-forgotten", f"github:{API}:1", "revoked") in audit(world)


def test_a_link_without_a_readable_token_is_a_link(
    world: World, linking: Linking
) -> None:
    digest = linking.arrive(ALICE, grant=PersonalToken(access_token=SecretStr("x")))
    with world.database.writing() as connection:
        connection.execute(secrets_table.update().values(ciphertext=b"damaged"))
    assert linking.confirm(digest, ALICE) == ()
    assert linking.person_of() == ALICE
    assert linking.tokens.fetch(linking.accounts.account_of(ALICE, API)) is None
