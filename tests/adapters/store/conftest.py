"""Databases for the tests of the stores: SQLite in a file, and PostgreSQL."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from patchwright.workers.db.database import Database
from tests.adapters.store.world import World
from tests.fakes.clock import FakeClock
from tests.schema import add_sqlite_file


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of a database with the newest schema and no rows, of each kind."""
    if request.param == "sqlite":
        file = tmp_path / "patchwright.db"
        add_sqlite_file(file)
        return f"sqlite:///{file}"
    url: str = request.getfixturevalue("migrated_postgres_url")
    return url


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of a database without any table, of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/patchwright.db"
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def database(database_url: str, clock: FakeClock) -> Iterator[Database]:
    """Open a database that has the newest schema, and the time of the test."""
    with closing(Database(database_url, clock=clock)) as opened:
        yield opened


@pytest.fixture
def world(database: Database, clock: FakeClock) -> World:
    return World(database, clock)
