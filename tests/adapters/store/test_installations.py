"""Tokens of workspaces are encrypted, and each serves its own workspace."""

import pytest
from pydantic import SecretStr

from patchwright.core.system.crypto import KeyRing
from patchwright.core.types.errors import AuthenticationError
from patchwright.integrations.slack.tokens import (
    SlackInstallation,
    SlackInstallationStore,
)
from patchwright.workers.db.tables import secrets_table
from patchwright.workers.store.secrets import SecretStore
from tests.adapters.store.world import World

KEYS = KeyRing({"k": bytes(32)}, "k")


@pytest.fixture
def store(world: World) -> SecretStore:
    return SecretStore(world.database, KEYS, world.clock)


def installed(team: str, token: str) -> SlackInstallation:
    return SlackInstallation(id=team, name="Acme", token=SecretStr(token))


def test_each_workspace_has_its_token(world: World, store: SecretStore) -> None:
    tokens = SlackInstallationStore(store)
    tokens.save(installed("T1", "xoxb-one"))
    tokens.save(installed("T2", "xoxb-two"))
    assert tokens.token_of("T1") == SecretStr("xoxb-one")
    assert tokens.token_of("T2") == SecretStr("xoxb-two")
    assert "xoxb" not in str(world.rows(secrets_table))


def test_who_installs_it_again_replaces_the_token(store: SecretStore) -> None:
    tokens = SlackInstallationStore(store)
    tokens.save(installed("T1", "xoxb-old"))
    tokens.save(installed("T1", "xoxb-new"))
    assert tokens.token_of("T1") == SecretStr("xoxb-new")


def test_a_workspace_that_did_not_install_it_is_named(store: SecretStore) -> None:
    store.put("T1", SecretStr("of somebody else"))
    with pytest.raises(AuthenticationError, match="the app is not installed in T1"):
        SlackInstallationStore(store).token_of("T1")
