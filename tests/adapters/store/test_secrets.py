"""Secrets in the database: encrypted, bound to their place, and rotated."""

from datetime import timedelta

import pytest
from pydantic import SecretStr
from sqlalchemy import update

from patchwright.core.system.crypto import DecryptionError, KeyRing
from patchwright.core.types.errors import SettingsError
from patchwright.workers.db.tables import secrets_table
from patchwright.workers.store.secrets import SecretStore
from tests.adapters.store.world import World

OLD = b"o" * 32
NEW = b"n" * 32
TOKEN = SecretStr("ghs_planted_token")


def test_a_secret_comes_back_and_is_nowhere_in_the_database(world: World) -> None:
    store = _store(world, KeyRing({"old": OLD}, "old"))
    store.put("installation-1", TOKEN)
    assert store.fetch("installation-1") == TOKEN
    assert TOKEN.get_secret_value() not in str(world.rows(secrets_table))


def test_a_secret_is_replaced_under_its_name_only(world: World) -> None:
    store = _store(world, KeyRing({"old": OLD}, "old"))
    store.put("token", TOKEN, owner="a")
    store.put("token", SecretStr("other"), owner="b")
    store.put("token", SecretStr("newer"), owner="a")
    assert store.fetch("token", owner="a") == SecretStr("newer")
    assert store.fetch("token", owner="b") == SecretStr("other")
    assert store.fetch("token") is None


def test_a_secret_that_has_expired_is_gone(world: World) -> None:
    store = _store(world, KeyRing({"old": OLD}, "old"))
    store.put("token", TOKEN, world.clock.now() + timedelta(hours=1))
    world.clock.advance(3599)
    assert store.fetch("token") == TOKEN
    world.clock.advance(1)
    assert store.fetch("token") is None


def test_a_secret_put_in_another_place_does_not_open(world: World) -> None:
    store = _store(world, KeyRing({"old": OLD}, "old"))
    store.put("token", TOKEN, owner="a")
    with world.database.writing() as connection:
        connection.execute(update(secrets_table).values(owner="b"))
    with pytest.raises(DecryptionError):
        store.fetch("token", owner="b")


@pytest.mark.parametrize("column", ["wrapped_key", "ciphertext"])
def test_a_secret_that_was_tampered_with_does_not_open(
    world: World, column: str
) -> None:
    store = _store(world, KeyRing({"old": OLD}, "old"))
    store.put("token", TOKEN)
    for damaged in (b"", b"short", b"x" * 60):
        with world.database.writing() as connection:
            connection.execute(update(secrets_table).values({column: damaged}))
        with pytest.raises(DecryptionError):
            store.fetch("token")


def test_rotating_puts_every_secret_under_the_first_key(world: World) -> None:
    _store(world, KeyRing({"old": OLD}, "old")).put("token", TOKEN)
    [before] = world.rows(secrets_table)
    both = _store(world, KeyRing({"new": NEW, "old": OLD}, "new"))
    assert both.fetch("token") == TOKEN
    assert both.rotate() == 1
    assert both.rotate() == 0
    [after] = world.rows(secrets_table)
    assert after["key_id"] == "new"
    assert after["ciphertext"] == before["ciphertext"]
    only_new = _store(world, KeyRing({"new": NEW}, "new"))
    assert only_new.fetch("token") == TOKEN


def test_without_its_key_a_secret_does_not_open(world: World) -> None:
    _store(world, KeyRing({"old": OLD}, "old")).put("token", TOKEN)
    only_new = _store(world, KeyRing({"new": NEW}, "new"))
    with pytest.raises(DecryptionError, match="no key named old"):
        only_new.fetch("token")


@pytest.mark.parametrize(
    ("keys", "current"),
    [({"a": b"short"}, "a"), ({"a": OLD}, "b"), ({}, "a")],
)
def test_keys_that_cannot_serve_are_refused(
    keys: dict[str, bytes], current: str
) -> None:
    with pytest.raises(SettingsError, match="encryption_keys"):
        KeyRing(keys, current)


def _store(world: World, keys: KeyRing) -> SecretStore:
    return SecretStore(world.database, keys, world.clock)
