"""Carry a whole log from one place to another, as a file of events."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Protocol

from patchwright.core.errors import PatchwrightError
from patchwright.core.events.files import StoredEvent, read_entries


class LogNotEmptyError(PatchwrightError):
    """Events can only be restored to a log that has none; nothing was stored."""

    reason = "log-not-empty"


class TransferableLog(Protocol):
    """A log that hands out and takes in events as they are stored.

    Nothing of them is lost: neither times and ids nor kinds and fields that this
    version does not know. Secrets are redacted on the way in.
    """

    def entries(self) -> Iterator[StoredEvent]:
        """Yield all events, in order."""
        ...

    def restore(self, entries: Iterable[StoredEvent]) -> None:
        """Store events that had these ids; raises `LogNotEmptyError`."""
        ...


def export_log(log: TransferableLog, file: IO[str]) -> int:
    """Write one event a line; return how many there were."""
    count = 0
    for entry in log.entries():
        file.write(f"{entry.model_dump_json()}\n")
        count = entry.id
    return count


def import_log(path: Path, log: TransferableLog) -> int:
    """Restore the events of a file, all or none; return how many there were.

    Raises what `read_events` does.
    """
    count = sum(1 for _ in read_entries(path))
    log.restore(read_entries(path))
    return count
