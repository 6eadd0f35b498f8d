"""Check the state folder and the stored secrets, and find the App stored there."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from sqlalchemy.exc import SQLAlchemyError

from patchwright.core.clock import Clock
from patchwright.core.errors import PatchwrightError
from patchwright.core.settings.model import Settings
from patchwright.integrations.github.credentials import (
    GitHubAppStore,
    with_app_settings,
)
from patchwright.resolver.messages.elements import count_noun
from patchwright.workers.compose import KEY_FILE, SESSION_FILE, key_ring
from patchwright.workers.db.database import Database, open_existing
from patchwright.workers.db.upgrade import missing_migrations
from patchwright.workers.doctor.checks import (
    CheckContext,
    CheckResult,
    combine,
    failed,
    ok,
    skipped,
    warning,
)
from patchwright.workers.store.secrets import KeyUse, SecretStore


@contextmanager
def open_current_database(settings: Settings) -> Iterator[Database | None]:
    """Lend the database; None where it is not there yet, or of an earlier version."""
    with open_existing(settings.database.url.get_secret_value()) as database:
        is_ours = database is not None and not missing_migrations(database)
        yield database if is_ours else None


def secret_store(
    settings: Settings, database: Database, clock: Clock
) -> SecretStore | None:
    """Return the stored secrets with our keys; None while there is no key at all."""
    has_own = (settings.state_dir / KEY_FILE).exists()
    if database.is_sqlite and not settings.security.encryption_keys and not has_own:
        return None
    return SecretStore(database, key_ring(settings, database), clock)


def with_registered_app(settings: Settings, clock: Clock) -> Settings:
    """Complete the settings by the App that was made for the service, if one was.

    Where that cannot be found out, a check says why.
    """
    if settings.github.is_configured:
        return settings
    try:
        with open_existing(settings.database.url.get_secret_value()) as database:
            store = database and secret_store(settings, database, clock)
            app = store and GitHubAppStore(store, settings.github.api_url).fetch()
    except (PatchwrightError, SQLAlchemyError, OSError):
        return settings
    return with_app_settings(settings, app) if app else settings


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
