"""Databases that have the newest schema: the migrations run once in each process."""

import tempfile
from contextlib import closing
from functools import cache
from pathlib import Path

from patchwright.workers.db.database import Database
from patchwright.workers.db.upgrade import upgrade


def add_sqlite_file(file: Path) -> None:
    """Make the file of a database, if there is none yet, and the folders above it."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(_migrated())


def add_schema(url: str) -> None:
    """Run the migrations on a database."""
    with closing(Database(url)) as database:
        upgrade(database)


@cache
def _migrated() -> bytes:
    with tempfile.TemporaryDirectory(prefix="patchwright-schema-") as folder:
        file = Path(folder, "newest.db")
        add_schema(f"sqlite:///{file}")
        return file.read_bytes()
