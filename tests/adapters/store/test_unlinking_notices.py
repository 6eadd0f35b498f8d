"""What is forgotten of people whose service or forge says so."""

import pytest

from patchwright.core.types.triggers import ConsentRevoked, InstallationChanged
from tests.adapters.store.linking_world import JO, Linking, open_linking
from tests.adapters.store.world import ALICE, World


@pytest.fixture
def linking(world: World) -> Linking:
    return open_linking(world)


def test_the_token_of_who_takes_their_consent_back_is_forgotten(
    world: World, linking: Linking
) -> None:
    account = linking.link(ALICE)
    world.deliver(ConsentRevoked(person=ALICE))
    assert linking.tokens.fetch(account) is None
    assert linking.person_of() == ALICE


def test_the_people_of_a_workspace_that_uninstalls_are_unlinked(
    world: World, linking: Linking
) -> None:
    elsewhere = JO.model_copy(update={"host": "T2"})
    linking.link(ALICE)
    linking.link(ALICE, elsewhere)
    gone = InstallationChanged(service="slack", installation="T1", gone=True)
    world.deliver(gone)
    assert (linking.person_of(), linking.person_of(elsewhere)) == (None, ALICE)
