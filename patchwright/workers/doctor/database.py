"""Check that the database answers, is of this version, and is on a fit file system."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import Final

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from patchwright.resolver.messages.elements import count_noun
from patchwright.workers.db.database import (
    Database,
    database_error_text,
    database_file,
    is_missing,
)
from patchwright.workers.db.upgrade import later_schema, missing_migrations
from patchwright.workers.doctor.checks import (
    CheckContext,
    CheckResult,
    combine,
    failed,
    ok,
    warning,
)

# SQLite's locks, and its write-ahead log above all, do not hold across a network.
# https://www.sqlite.org/wal.html and https://www.sqlite.org/faq.html#q5
NETWORK_FILE_SYSTEMS: Final = frozenset(
    {
        "9p", "afs", "ceph", "cifs", "fuse.glusterfs", "fuse.s3fs", "fuse.sshfs",
        "gfs2", "glusterfs", "lustre", "ncpfs", "nfs", "nfs4", "smb3", "smbfs",
    }
)  # fmt: skip
_MOUNT_POINT: Final = 4
# How blanks and the like are written there.
# https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html
_ESCAPES: Final = (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\"))


def file_system_type(path: PurePosixPath, mountinfo: str) -> str:
    """Return the type of the file system, or an empty text if it is unknown."""
    above = {str(path), *map(str, path.parents)}
    found = [_read_mount(line) for line in mountinfo.splitlines() if " - " in line]
    # A later mount hides an earlier one in the same place.
    fitting = sorted(
        (len(at), n, kind) for n, (at, kind) in enumerate(found) if at in above
    )
    return fitting[-1][2] if fitting else ""


def _read_mount(line: str) -> tuple[str, str]:
    before, _, after = line.partition(" - ")
    place = before.split(" ")[_MOUNT_POINT]
    for written, meant in _ESCAPES:
        place = place.replace(written, meant)
    return place, after.split(" ")[0]


_MOUNTS: Final = Path("/proc/self/mountinfo")
_LATER: Final = "start the newer version that migrated it"
_UPGRADE: Final = "patchwright db upgrade (`serve` does it too when it starts)"


def check_database(context: CheckContext) -> CheckResult:
    with closing(
        Database(context.settings.database.url.get_secret_value())
    ) as database:
        file = database_file(database)
        if is_missing(database):
            return ok(f"SQLite; `serve` will create {file}")
        try:
            return combine(
                (
                    *_examine_schema(database),
                    *(_network_disk_warnings(file) if file else ()),
                )
            )
        except SQLAlchemyError as error:
            return _unusable_database(error, file)


def _unusable_database(error: SQLAlchemyError, file: Path | None) -> CheckResult:
    fix = (
        f"check that {file} is a Patchwright database and that this user can write it"
        if file
        else "start the database, and check host, name and password in database.url"
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
        yield warning(f"{words}, starting with {missing[0]}", _UPGRADE)
    if later := later_schema(database):
        yield warning(f"it belongs to a later version: its schema is {later}", _LATER)
    yield ok(f"{kind} {version}, up to date")


def _network_disk_warnings(file: Path) -> Iterator[CheckResult]:
    if not _MOUNTS.exists():
        return
    place = PurePosixPath(file.resolve())
    kind = file_system_type(place, _MOUNTS.read_text(errors="replace"))
    if kind in NETWORK_FILE_SYSTEMS:
        yield warning(
            f"SQLite on a network disk ({kind}): its locks do not work there",
            "set state_dir to a local disk, or database.url to PostgreSQL",
        )
