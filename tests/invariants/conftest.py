"""Databases for the invariants that must hold in both kinds."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from patchwright.workers.db.database import Database
from patchwright.workers.db.upgrade import upgrade


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """Open an empty database with the newest schema, once of each kind."""
    url = f"sqlite:///{tmp_path}/patchwright.db"
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres_url")
    with closing(Database(url)) as opened:
        upgrade(opened)
        yield opened
