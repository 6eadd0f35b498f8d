"""Databases for the invariants that must hold in both kinds."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from patchwright.workers.db.database import Database
from tests.schema import add_sqlite_file


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """Open an empty database with the newest schema, once of each kind."""
    if request.param == "postgresql":
        url = request.getfixturevalue("migrated_postgres_url")
    else:
        file = tmp_path / "patchwright.db"
        add_sqlite_file(file)
        url = f"sqlite:///{file}"
    with closing(Database(url)) as opened:
        yield opened
