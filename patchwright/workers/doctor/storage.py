"""Check the state folder, the database and the stored secrets, and read from them."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path, PurePosixPath
from typing import Final

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from patchwright.core.doctor import (
    CheckContext,
    CheckResult,
    combine,
    failed,
    ok,
    skipped,
    warning,
)
from patchwright.core.settings.model import Settings
from patchwright.core.system.clock import Clock
from patchwright.core.text.strings import count_noun
from patchwright.core.types.errors import PatchwrightError
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.registry import describe_services, find_forge
from patchwright.workers.db.database import (
    Database,
    database_error_text,
    database_file,
    is_missing,
    open_existing,
)
from patchwright.workers.db.upgrade import later_schema, missing_migrations
from patchwright.workers.store.secrets import (
    KEY_FILE,
    SESSION_FILE,
    KeyUse,
    SecretStore,
    key_ring,
)
from patchwright.workers.store.threads import ThreadStore


@contextmanager
def open_current_database(settings: Settings) -> Iterator[Database | None]:
    """Lend the database; None where it is not there yet, or of an earlier version."""
    with open_existing(settings.database.url.get_secret_value()) as database:
        is_ours = database is not None and not missing_migrations(database)
        yield database if is_ours else None


@contextmanager
def lend_secrets(settings: Settings, clock: Clock) -> Iterator[SecretStore | None]:
    """Lend the stored secrets; None where nothing is stored, or no key opens it."""
    with open_current_database(settings) as database:
        yield secret_store(settings, database, clock) if database else None


def secret_store(
    settings: Settings, database: Database, clock: Clock
) -> SecretStore | None:
    """Return the stored secrets with our keys; None while there is no key at all."""
    has_own = (settings.state_dir / KEY_FILE).exists()
    if database.is_sqlite and not settings.security.encryption_keys and not has_own:
        return None
    return SecretStore(database, key_ring(settings, database), clock)


def known_repositories(settings: Settings, forge: str) -> tuple[RepoRef, ...]:
    """Return those that the settings name, and those where there was work lately."""
    named = describe_services(settings).mapped_repositories
    refs = [RepoRef(forge=forge, full_name=one) for one in named]
    with open_current_database(settings) as database:
        lately = ThreadStore(database).newest_repositories(forge) if database else ()
    return tuple(dict.fromkeys((*refs, *lately)))


def with_registered_app(settings: Settings, clock: Clock) -> Settings:
    """Complete the settings by the App that was made for the service, if one was.

    Where that cannot be found out, a check says why.
    """
    plugin = find_forge(settings)
    if plugin.make_setup is None or plugin.describe(settings).is_configured:
        return settings
    try:
        with open_existing(settings.database.url.get_secret_value()) as database:
            secrets = database and secret_store(settings, database, clock)
            if not secrets:
                return settings
            found = plugin.make_setup(settings, secrets, clock).fetch_settings()
    except (PatchwrightError, SQLAlchemyError, OSError):
        return settings
    return found or settings


_GIB: Final = 1 << 30
# Copies of repositories are made here, and a run's log grows by megabytes.
_LITTLE_SPACE: Final = 2 * _GIB
_NO_SPACE: Final = _GIB // 4
_OTHER_USERS: Final = stat.S_IRWXG | stat.S_IRWXO


def check_state(context: CheckContext) -> CheckResult:
    folder = context.settings.state_dir
    there = next(one for one in (folder, *folder.parents) if one.exists())
    if there != folder:
        return combine(
            (_missing_folder(folder, there), judge_space(_free_bytes(there), there))
        )
    files = (folder / name for name in (KEY_FILE, SESSION_FILE))
    return combine(
        (
            _writable(folder),
            *_unprotected_files(one for one in files if one.exists()),
            judge_space(_free_bytes(folder), folder),
        )
    )


def judge_space(free: int, folder: Path) -> CheckResult:
    """Judge by the bytes that are free."""
    words = f"{free / _GIB:.1f} GiB free"
    fix = f"free space on the disk of {folder}, or set state_dir to a larger disk"
    if free < _NO_SPACE:
        return failed(words, fix)
    return warning(words, fix) if free < _LITTLE_SPACE else ok(words)


def _free_bytes(folder: Path) -> int:
    return shutil.disk_usage(folder).free


def _missing_folder(folder: Path, parent: Path) -> CheckResult:
    if os.access(parent, os.W_OK | os.X_OK):
        return ok(f"{folder} will be created")
    return failed(
        f"{folder} does not exist, and {parent} cannot be written",
        f"create it, or set state_dir: install -d -m 700 -o $USER {folder}",
    )


def _writable(folder: Path) -> CheckResult:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return ok(f"{folder} can be written")
    except OSError as error:
        return failed(
            f"{folder} cannot be written: {error.strerror}",
            f"make the user that runs the service its owner: chown -R $USER {folder}",
        )


def _unprotected_files(files: Iterator[Path]) -> Iterator[CheckResult]:
    for file in files:
        seen = file.stat()
        if seen.st_mode & _OTHER_USERS:
            yield failed(f"{file} can be read by others", f"chmod 600 {file}")
        elif not os.access(file, os.R_OK):
            yield failed(
                f"{file} cannot be read by this user",
                f"run doctor as the user of the service, or chown $USER {file}",
            )


_FIX_LOST_KEY = (
    "put that key back into security.encryption_keys; if the key is lost, its secrets "
    "are lost too: install the apps again, and let people link again"
)
_FIX_OLD_KEY = "run patchwright keys rotate, and then remove the old keys"


def check_secrets(context: CheckContext) -> CheckResult:
    with open_current_database(context.settings) as database:
        if database is None:
            return skipped("there is no database of this version yet")
        store = secret_store(context.settings, database, context.clock)
        if store is None:
            return skipped("no key yet; `serve` creates one")
        known = tuple(key.id for key in context.settings.security.encryption_keys)
        return judge_keys(store.survey(), known)


def judge_keys(uses: Sequence[KeyUse], known: Sequence[str]) -> CheckResult:
    """Check what is stored by the ids of the configured keys, the current first."""
    count = sum(use.stored for use in uses)
    if not count:
        return ok("nothing is stored")
    return combine(
        (
            ok(f"{count_noun(count, 'secret')}, all can be decrypted"),
            *_key_problems(uses, known),
        )
    )


def _key_problems(
    uses: Sequence[KeyUse], known: Sequence[str]
) -> Iterator[CheckResult]:
    for use in uses:
        if use.closed:
            words = (
                f"{use.closed} of {count_noun(use.stored, 'secret')} cannot be "
                "decrypted"
            )
            yield failed(f"{words} with the key {use.key_id}", _FIX_LOST_KEY)
    old = [use for use in uses if known and use.key_id != known[0] and not use.closed]
    if old:
        names = ", ".join(use.key_id for use in old)
        words = count_noun(sum(use.stored for use in old), "secret")
        yield warning(
            f"{words} still encrypted with an old key ({names})", _FIX_OLD_KEY
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
