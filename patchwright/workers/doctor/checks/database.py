"""Check that the database answers, and is of this version."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import Final

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from patchwright.resolver.messages.facts import counted
from patchwright.workers.db.database import Database
from patchwright.workers.db.errors import words_of
from patchwright.workers.db.existing import file_of, is_missing
from patchwright.workers.db.upgrade import later_schema, missing_migrations
from patchwright.workers.doctor.case import Case
from patchwright.workers.doctor.finding import Finding, combine, failed, ok, warning
from patchwright.workers.doctor.mounts import NETWORK, file_system

_MOUNTS: Final = Path("/proc/self/mountinfo")
_LATER: Final = "start the version that migrated it, as soon as it works for you"
_UPGRADE: Final = "patchwright db upgrade (`serve` does it too when it starts)"


def check(context: Case) -> Finding:
    with closing(Database(context.settings.database.url.get_secret_value())) as database:
        file = file_of(database)
        if is_missing(database):
            return ok(f"SQLite; `serve` will make {file}")
        try:
            return combine((*_examine(database), *(_disk(file) if file else ())))
        except SQLAlchemyError as error:
            return _silent(error, file)


def _silent(error: SQLAlchemyError, file: Path | None) -> Finding:
    fix = (
        f"check that {file} is a database of ours and can be written by this user"
        if file
        else "start it, and check host, name and password in database.url"
    )
    return failed(f"does not answer: {words_of(error)}", fix)


def _examine(database: Database) -> Iterator[Finding]:
    with database.reading() as connection:
        query = (
            "SELECT sqlite_version()" if database.is_sqlite else "SHOW server_version"
        )
        version = connection.scalar(text(query))
    kind = "SQLite" if database.is_sqlite else "PostgreSQL"
    missing = missing_migrations(database)
    if missing:
        words = f"{counted(len(missing), 'migration')} pending"
        yield warning(f"{words}, from {missing[0]} on", _UPGRADE)
    if later := later_schema(database):
        yield warning(f"of a later version: its schema is {later}", _LATER)
    yield ok(f"{kind} {version}, up to date")


def _disk(file: Path) -> Iterator[Finding]:
    if not _MOUNTS.exists():
        return
    place = PurePosixPath(file.resolve())
    kind = file_system(place, _MOUNTS.read_text(errors="replace"))
    if kind in NETWORK:
        yield warning(
            f"SQLite on a network disk ({kind}): its locks do not hold there",
            "set state_dir to a local disk, or database.url to PostgreSQL",
        )
