"""Secrets that processes share, encrypted in the database, and their key files."""

import json
import os
import secrets
import stat
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from pydantic import SecretStr
from sqlalchemy import Connection, Row, delete, select, update

from patchwright.core.settings.model import Settings
from patchwright.core.system.clock import Clock
from patchwright.core.system.crypto import (
    KEY_BYTES,
    DecryptionError,
    EncryptedValue,
    KeyRing,
)
from patchwright.core.types.errors import SettingsError
from patchwright.integrations.settings import NO_SHARED_KEY
from patchwright.workers.db.database import Database, insert_or_replace
from patchwright.workers.db.tables import secrets_table

_NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO

KEY_FILE: Final = "encryption.key"
SESSION_FILE: Final = "session.secret"
_OWN_KEY_ID: Final = "own"


def key_ring(settings: Settings, database: Database) -> KeyRing:
    """Return the configured keys; beside an SQLite file, a key of our own will do."""
    configured = settings.security.encryption_keys
    if configured:
        keys = {key.id: key.key.get_secret_value() for key in configured}
        return KeyRing(keys, configured[0].id)
    if not database.is_sqlite:
        raise SettingsError(NO_SHARED_KEY)
    key = load_or_make_key(settings.state_dir / KEY_FILE)
    return KeyRing({_OWN_KEY_ID: key}, _OWN_KEY_ID)


def session_secret(settings: Settings, database: Database) -> bytes | None:
    """Return what signs cookies and links; beside an SQLite file, one of our own."""
    configured = settings.security.session_secret
    if configured:
        return configured.get_secret_value().encode()
    if not database.is_sqlite:
        return None
    return load_or_make_key(settings.state_dir / SESSION_FILE)


def load_or_make_key(path: Path) -> bytes:
    """Return the 32 bytes in the file; make it first if it is not there.

    Processes that start at the same time all get the same key.
    """
    if not path.exists():
        _make(path)
    if path.stat().st_mode & _OTHERS:
        raise SettingsError(f"{path} can be read by others; make it mode 600")
    key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise SettingsError(f"{path} is not a key of {KEY_BYTES} bytes")
    return key


def _make(path: Path) -> None:
    written = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(written, _NEW_FILE, 0o600), "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        # A link appears whole, and not at all where another process was faster.
        path.hardlink_to(written)
    except FileExistsError:
        return
    finally:
        written.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class KeyUse:
    """How many secrets are stored under a key, and how many of them do not open."""

    key_id: str
    stored: int
    closed: int


class SecretStore:
    """Keeps a secret under the name of whom it belongs to and its own."""

    def __init__(self, database: Database, keys: KeyRing, clock: Clock) -> None:
        self._database = database
        self._keys = keys
        self._clock = clock

    def put(
        self,
        name: str,
        value: SecretStr,
        expires_at: datetime | None = None,
        *,
        owner: str = "",
    ) -> None:
        """Keep a secret; what had its name before is gone."""
        with self._database.writing() as connection:
            self.put_in(connection, name, value, expires_at, owner=owner)

    def put_in(
        self,
        connection: Connection,
        name: str,
        value: SecretStr,
        expires_at: datetime | None = None,
        *,
        owner: str = "",
    ) -> None:
        """Do as `put` does, in a transaction that is there already."""
        plain = value.get_secret_value().encode()
        sealed = self._keys.seal(plain, _context(owner, name))
        row = {
            "owner": owner,
            "name": name,
            "key_id": sealed.key_id,
            "wrapped_key": sealed.wrapped_key,
            "ciphertext": sealed.ciphertext,
            "stored_at": self._clock.now(),
            "expires_at": expires_at,
        }
        insert_or_replace(connection, secrets_table, row)

    def fetch(self, name: str, *, owner: str = "") -> SecretStr | None:
        """Return a secret unless it has expired; `DecryptionError` if it is damaged."""
        with self._database.reading() as connection:
            return self.fetch_in(connection, name, owner=owner)

    def fetch_in(
        self, connection: Connection, name: str, *, owner: str = ""
    ) -> SecretStr | None:
        """Do as `fetch` does, with a connection that is there already."""
        query = select(secrets_table).where(
            secrets_table.c.owner == owner, secrets_table.c.name == name
        )
        row = connection.execute(query).one_or_none()
        if row is None or _has_expired(row.expires_at, self._clock.now()):
            return None
        plain = self._keys.open(_sealed(row), _context(owner, name))
        return SecretStr(plain.decode())

    def names(self, owner: str) -> tuple[str, ...]:
        query = select(secrets_table.c.name).where(secrets_table.c.owner == owner)
        with self._database.reading() as connection:
            return tuple(connection.scalars(query.order_by(secrets_table.c.name)))

    def rotate(self) -> int:
        """Put every secret under the current key; return how many were not."""
        old = secrets_table.c.key_id != self._keys.current
        with self._database.writing() as connection:
            rows = connection.execute(
                select(secrets_table).where(old).with_for_update()
            )
            renewed = [self._rewrapped(row) for row in rows]
            for row, sealed in renewed:
                connection.execute(
                    update(secrets_table)
                    .where(
                        secrets_table.c.owner == row.owner,
                        secrets_table.c.name == row.name,
                    )
                    .values(key_id=sealed.key_id, wrapped_key=sealed.wrapped_key)
                )
        return len(renewed)

    def survey(self) -> tuple[KeyUse, ...]:
        """Try to decrypt every secret; return the result for each key."""
        with self._database.reading() as connection:
            rows = connection.execute(select(secrets_table)).all()
        stored = Counter(row.key_id for row in rows)
        closed = Counter(row.key_id for row in rows if not self._opens(row))
        return tuple(KeyUse(one, stored[one], closed[one]) for one in sorted(stored))

    def _opens(self, row: Row[Any]) -> bool:
        try:
            self._keys.open(_sealed(row), _context(row.owner, row.name))
        except DecryptionError:
            return False
        return True

    def _rewrapped(self, row: Row[Any]) -> tuple[Row[Any], EncryptedValue]:
        return row, self._keys.rewrap(_sealed(row), _context(row.owner, row.name))


def stored_since(connection: Connection, name: str, owner: str = "") -> datetime | None:
    """Return when a secret was put there, None if it is not."""
    theirs = (secrets_table.c.owner == owner, secrets_table.c.name == name)
    return connection.scalar(select(secrets_table.c.stored_at).where(*theirs))


def forget_secret(connection: Connection, name: str, owner: str = "") -> None:
    theirs = (secrets_table.c.owner == owner, secrets_table.c.name == name)
    connection.execute(delete(secrets_table).where(*theirs))


def forget_expired(connection: Connection, name: str, now: datetime) -> None:
    """Remove expired entries with that name, of any owner."""
    outdated = (secrets_table.c.name == name, secrets_table.c.expires_at <= now)
    connection.execute(delete(secrets_table).where(*outdated))


def _has_expired(expires_at: datetime | None, now: datetime) -> bool:
    return expires_at is not None and expires_at <= now


def _sealed(row: Row[Any]) -> EncryptedValue:
    return EncryptedValue(row.key_id, row.wrapped_key, row.ciphertext)


def _context(owner: str, name: str) -> bytes:
    """Name the row, so that its value opens in no other."""
    return json.dumps(["secret", owner, name]).encode()
