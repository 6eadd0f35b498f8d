"""What is forgotten of people whose service or forge says so."""

from datetime import timedelta

import pytest
from pydantic import SecretStr

from patchwright.core.system.crypto import KeyRing
from patchwright.core.types.triggers import ConsentRevoked, InstallationChanged
from patchwright.integrations.slack.tokens import SLACK_OWNER
from patchwright.resolver.job import JobState
from patchwright.workers.store.secrets import SecretStore
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
    elsewhere = JO.replace(host="T2")
    linking.link(ALICE)
    linking.link(ALICE, elsewhere)
    gone = InstallationChanged(service="slack", installation="T1", gone=True)
    world.deliver(gone)
    assert (linking.person_of(), linking.person_of(elsewhere)) == (None, ALICE)


def test_a_workspace_that_has_installed_the_app_again_keeps_what_it_has(
    world: World, linking: Linking
) -> None:
    secrets = SecretStore(world.database, KeyRing({"k": bytes(32)}, "k"), world.clock)
    secrets.put("T1", SecretStr("xoxb-new"), owner=SLACK_OWNER)
    linking.link(ALICE)
    job_id = linking.ask()

    def left(seconds: float) -> InstallationChanged:
        at = world.clock.now() + timedelta(seconds=seconds)
        return InstallationChanged(service="slack", installation="T1", gone=True, at=at)

    world.deliver(left(-60))
    assert linking.person_of() == ALICE
    assert secrets.fetch("T1", owner=SLACK_OWNER) is not None
    assert world.job(job_id).state is JobState.WAITING_USER
    world.deliver(left(+60))
    assert linking.person_of() is None
    assert secrets.fetch("T1", owner=SLACK_OWNER) is None
