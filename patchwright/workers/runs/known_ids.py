"""Ids of runs for a shell that waits for a key: quick, and never an error.

The drivers are used as they are, since SQLAlchemy alone takes longer to load.
"""

import sqlite3
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import quote

from patchwright.core.types.errors import SettingsError
from patchwright.integrations.settings import load_settings_here

_MOST: Final = 50
_CONNECT_S: Final = 1
_SQLITE: Final = "sqlite:///"
_QUERY: Final = (
    "SELECT id FROM jobs WHERE id LIKE {0} ORDER BY created_at DESC LIMIT {0}"
)


def known_ids(prefix: str) -> list[str]:
    """Return the newest ids that begin so, by the settings of this process."""
    try:
        settings = load_settings_here()
    except SettingsError:
        return []
    url = settings.database.url.get_secret_value()
    return find_ids(url, settings.state_dir / "runs", prefix)


def find_ids(url: str, logs: Path, prefix: str) -> list[str]:
    """Return those of a database and of a folder of logs."""
    if prefix and not prefix.isalnum():
        return []
    local = sorted(one.name.removesuffix(".jsonl") for one in logs.glob("*.jsonl"))
    fitting = [one for one in local if one.startswith(prefix)]
    of_service = _in_sqlite if url.startswith(_SQLITE) else _in_postgresql
    return [*of_service(url, f"{prefix}%"), *fitting][:_MOST]


def _in_sqlite(url: str, pattern: str) -> list[str]:
    address = f"file:{quote(url.removeprefix(_SQLITE))}?mode=ro"
    try:
        connection = sqlite3.connect(address, uri=True, timeout=_CONNECT_S)
    except sqlite3.Error:
        return []
    try:
        rows = connection.execute(_QUERY.format("?"), (pattern, _MOST)).fetchall()
    except sqlite3.Error:
        return []
    finally:
        connection.close()
    return [run_id for (run_id,) in rows]


def _in_postgresql(url: str, pattern: str) -> list[str]:
    driver = import_module("psycopg")
    connect = cast("Callable[..., Any]", driver.connect)
    address = url.replace("postgresql+psycopg:", "postgresql:", 1)
    try:
        with connect(address, connect_timeout=_CONNECT_S) as connection:
            rows = connection.execute(_QUERY.format("%s"), (pattern, _MOST)).fetchall()
    except driver.Error:
        return []
    return [run_id for (run_id,) in rows]
