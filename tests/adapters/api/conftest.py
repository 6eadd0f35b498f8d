"""The API on each kind of database."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from patchwright.workers.db.database import Database
from tests.adapters.api.serving import ApiSite, serving_api
from tests.fakes.clock import FakeClock
from tests.schema import add_sqlite_file


@pytest.fixture(params=["sqlite", "postgresql"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ApiSite]:
    """Serve the API with an empty database."""
    if request.param == "sqlite":
        file = tmp_path / "patchwright.db"
        add_sqlite_file(file)
        url = f"sqlite:///{file}"
    else:
        url = request.getfixturevalue("migrated_postgres_url")
    yield from _serving(url, tmp_path)


@pytest.fixture
def lite_site(tmp_path: Path) -> Iterator[ApiSite]:
    """Serve it with SQLite, where the database makes no difference."""
    file = tmp_path / "patchwright.db"
    add_sqlite_file(file)
    yield from _serving(f"sqlite:///{file}", tmp_path)


def _serving(url: str, folder: Path) -> Iterator[ApiSite]:
    clock = FakeClock()
    with (
        closing(Database(url, clock=clock)) as database,
        serving_api(database, folder, clock) as running,
    ):
        yield running
