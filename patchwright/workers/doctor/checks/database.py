"""Check that the database answers, and is of this version."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import Final

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from patchwright.resolver.messages.facts import count_noun
from patchwright.workers.db.database import Database
from patchwright.workers.db.errors import database_error_text
from patchwright.workers.db.existing import database_file, is_missing
from patchwright.workers.db.upgrade import later_schema, missing_migrations
from patchwright.workers.doctor.case import CheckContext
from patchwright.workers.doctor.finding import CheckResult, combine, failed, ok, warning
from patchwright.workers.doctor.mounts import NETWORK_FILE_SYSTEMS, file_system_type

_MOUNTS: Final = Path("/proc/self/mountinfo")
_LATER: Final = "start the version that migrated it, as soon as it works for you"
_UPGRADE: Final = "patchwright db upgrade (`serve` does it too when it starts)"


def check_database(context: CheckContext) -> CheckResult:
    with closing(Database(context.settings.database.url.get_secret_value())) as database:
        file = database_file(database)
        if is_missing(database):
            return ok(f"SQLite; `serve` will make {file}")
        try:
            return combine((*_examine_schema(database), *(_network_disk_warnings(file) if file else ())))
        except SQLAlchemyError as error:
            return _unusable_database(error, file)


def _unusable_database(error: SQLAlchemyError, file: Path | None) -> CheckResult:
    fix = (
        f"check that {file} is a database of ours and can be written by this user"
        if file
        else "start it, and check host, name and password in database.url"
    )
    return failed(f"does not answer: {database_error_text(error)}", fix)


def _examine_schema(database: Database) -> Iterator[CheckResult]:
    with database.reading() as connection:
        query = (
            "SELECT sqlite_version()" if database.is_sqlite else "SHOW server_version"
        )
        version = connection.scalar(text(query))
    kind = "SQLite" if database.is_sqlite else "PostgreSQL"
    missing = missing_migrations(database)
    if missing:
        words = f"{count_noun(len(missing), 'migration')} pending"
        yield warning(f"{words}, from {missing[0]} on", _UPGRADE)
    if later := later_schema(database):
        yield warning(f"of a later version: its schema is {later}", _LATER)
    yield ok(f"{kind} {version}, up to date")


def _network_disk_warnings(file: Path) -> Iterator[CheckResult]:
    if not _MOUNTS.exists():
        return
    place = PurePosixPath(file.resolve())
    kind = file_system_type(place, _MOUNTS.read_text(errors="replace"))
    if kind in NETWORK_FILE_SYSTEMS:
        yield warning(
            f"SQLite on a network disk ({kind}): its locks do not hold there",
            "set state_dir to a local disk, or database.url to PostgreSQL",
        )
