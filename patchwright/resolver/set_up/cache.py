"""Keep what set-ups have made on this machine, for later sandboxes.

An entry is an archive, and a record of which files of the repository were read for it.
It fits a commit in which each of these files is the same, and so are all lock files and
manifests, read or not.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import IO, Final

import structlog
from pydantic import ValidationError

from patchwright.core.settings.model import Settings
from patchwright.core.system.clock import Clock
from patchwright.core.system.folder_removal import remove_tree
from patchwright.core.types.base import RandomIds, Value
from patchwright.core.types.threads import Repository
from patchwright.resolver.set_up.inference import is_manifest

_GIB: Final = 1024**3
# A form of entries that this version does not read is another folder.
_FOLDER: Final = "set-ups-1"
_RECORD, _ARCHIVE, _PART = ".json", ".tar", ".part"
# Whoever writes for longer than this has died.
_WRITING: Final = timedelta(hours=1)
# Of one set-up, for different states of the files that it reads.
_MOST_OF_A_KEY: Final = 4

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class SetUpKey:
    """What has to be equal before files are compared.

    `repository` names the repository, so that no two share anything. `scope` is empty
    for what came from its own history, or names the run which alone may use it.
    `origin` is what the sandbox is made of.
    """

    repository: str
    commands: tuple[str, ...]
    origin: str
    scope: str = ""

    @property
    def name(self) -> str:
        fields = [self.repository, list(self.commands), self.origin, self.scope]
        return hashlib.sha256(json.dumps(fields).encode()).hexdigest()[:40]


class SetUpRecord(Value):
    """What is known about an archive; `read` and `manifests` are contents by path.

    `seconds` is how long the commands took.
    """

    made_at: datetime
    bytes: int
    seconds: float
    read: dict[str, str]
    manifests: dict[str, str]

    def fits(self, blobs: Mapping[str, str]) -> bool:
        """Tell whether the set-up would find the same files in a commit."""
        return self.manifests == find_manifests(blobs) and all(
            blobs.get(path) == blob for path, blob in self.read.items()
        )


def find_manifests(blobs: Mapping[str, str]) -> dict[str, str]:
    return {path: blob for path, blob in blobs.items() if is_manifest(path)}


@dataclass(frozen=True)
class FoundSetUp:
    """An entry; its archive is open, so that nobody can remove it meanwhile."""

    record: SetUpRecord
    archive: IO[bytes]
    path: Path


class SetUpCache:
    """Entries in a folder, of at most `max_bytes` in all, the oldest used goes first.

    Several processes may use it at the same time. An entry counts once its record is
    there, which is written last and in one step.
    """

    def __init__(
        self,
        folder: Path,
        clock: Clock,
        *,
        max_bytes: int,
        max_age: timedelta,
        min_free_bytes: int = 0,
    ) -> None:
        self._folder, self._clock = folder, clock
        self.max_bytes, self._max_age = max_bytes, max_age
        self._min_free_bytes = min_free_bytes

    def find(self, key: SetUpKey, blobs: Mapping[str, str]) -> FoundSetUp | None:
        """Return the newest entry that fits the files of a commit."""
        for path in sorted(self._records(key), key=_last_use, reverse=True):
            record = _read_record(path)
            if record is None or self._is_old(record) or not record.fits(blobs):
                continue
            with suppress(OSError):
                archive = path.with_suffix(_ARCHIVE).open("rb")
                self._note_use(path)
                return FoundSetUp(record, archive, path)
        return None

    def store(
        self,
        key: SetUpKey,
        write: Callable[[IO[bytes]], tuple[str, ...] | None],
        blobs: Mapping[str, str],
        seconds: float,
    ) -> SetUpRecord | None:
        """Add an entry whose archive `write` writes; it returns which files were read.

        Nothing is added if it returns None. Raises `OSError`, and what `write` raises;
        then nothing is left behind.
        """
        folder = self._folder / key.name
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        name = folder / RandomIds().new()
        part = name.with_suffix(_PART)
        try:
            with part.open("xb") as file:
                read = write(file)
                size = file.tell()
            if read is None or not self._has_room(size):
                return None
            record = SetUpRecord(
                made_at=self._clock.now(),
                bytes=size,
                seconds=round(seconds, 3),
                read={path: blobs[path] for path in read if path in blobs},
                manifests=find_manifests(blobs),
            )
            part.rename(name.with_suffix(_ARCHIVE))
            part.write_text(record.model_dump_json())
            part.rename(name.with_suffix(_RECORD))
            self._note_use(name.with_suffix(_RECORD))
        finally:
            part.unlink(missing_ok=True)
        self.evict()
        return record

    def discard(self, found: FoundSetUp) -> None:
        """Remove an entry that turned out not to work."""
        _remove_entry(found.path)

    def evict(self) -> None:
        """Remove entries that are too old or too many, and what was left half made."""
        self._remove_strays()
        kept = 0
        by_key: dict[Path, int] = {}
        for path in sorted(self._records(), key=_last_use, reverse=True):
            record = _read_record(path)
            of_key = by_key[path.parent] = by_key.get(path.parent, 0) + 1
            kept += record.bytes if record else 0
            is_too_much = kept > self.max_bytes or of_key > _MOST_OF_A_KEY
            if record is None or self._is_old(record) or is_too_much:
                kept -= record.bytes if record else 0
                _remove_entry(path)
        for folder in self._folder.glob("*"):
            # Only a folder that is empty goes.
            with suppress(OSError):
                folder.rmdir()

    def clear(self) -> None:
        """Remove everything, for the sake of the disk."""
        if self._folder.is_dir():
            with suppress(OSError):
                remove_tree(self._folder)

    def _note_use(self, record: Path) -> None:
        at_s = self._clock.now().timestamp()
        os.utime(record, (at_s, at_s))

    def _records(self, key: SetUpKey | None = None) -> Iterator[Path]:
        return self._folder.glob(f"{key.name if key else '*'}/*{_RECORD}")

    def _is_old(self, record: SetUpRecord) -> bool:
        return self._clock.now() - record.made_at > self._max_age

    def _has_room(self, size: int) -> bool:
        free = shutil.disk_usage(self._folder).free
        return size <= self.max_bytes and free >= self._min_free_bytes

    def _remove_strays(self) -> None:
        """Remove files without a record whose writer is gone."""
        for path in self._folder.glob("*/*"):
            is_stray = path.suffix != _RECORD and not path.with_suffix(_RECORD).exists()
            with suppress(OSError):
                age_s = self._clock.now().timestamp() - path.stat().st_mtime
                if is_stray and age_s > _WRITING.total_seconds():
                    path.unlink()


def _read_record(path: Path) -> SetUpRecord | None:
    try:
        return SetUpRecord.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        log.warning("set_up_record_not_read", path=str(path), error=str(error))
        return None


def _last_use(path: Path) -> float:
    with suppress(OSError):
        return path.stat().st_mtime
    return 0.0


def _remove_entry(path: Path) -> None:
    """Remove the record first: without it the archive counts no more."""
    with suppress(OSError):
        path.unlink()
    with suppress(OSError):
        path.with_suffix(_ARCHIVE).unlink()


def open_set_up_cache(settings: Settings, clock: Clock) -> SetUpCache | None:
    """Return this machine's cache, or None if it is switched off."""
    wanted = settings.sandbox
    if not wanted.setup_cache_gib:
        return None
    return SetUpCache(
        settings.state_dir / _FOLDER,
        clock,
        max_bytes=int(wanted.setup_cache_gib * _GIB),
        max_age=timedelta(days=wanted.setup_cache_days),
        min_free_bytes=int(settings.limits.min_free_gib * _GIB),
    )


def name_repository(repository: Repository | None) -> str:
    """Return the name under which the set-ups of a repository are kept.

    One that is made anew under an old name is another repository.
    """
    if repository is None:
        return ""
    return f"{repository.clone_url} {repository.id}"


def shown_repository(name: str) -> str:
    """Return what people call the repository of that name, or of that Git folder."""
    if "://" not in name:
        return name.removesuffix("/.git").rpartition("/")[2]
    path = name.split(" ", maxsplit=1)[0].split("://")[1].partition("/")[2]
    return path.removesuffix(".git")
