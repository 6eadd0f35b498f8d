"""How long it takes until others see an event: `bench.seen URL CONVERSATION COUNT`."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from bench.figures import CLOCK
from patchwright.core.events.observations import Null
from patchwright.core.events.payload import Source
from patchwright.core.events.types import Event
from patchwright.core.types.base import ConversationId
from patchwright.workers.db.database import Database
from patchwright.workers.store.events import EventStore, SqlEventLog
from patchwright.workers.store.notifier import open_notifier

_PAUSE_S = 0.005
_PATIENCE_S = 60


def seen_after_s(log: SqlEventLog, count: int) -> list[float]:
    """Append in this process, now and then, and return each event's delay."""
    with _watching(log, count) as delays_s:
        _append_now_and_then(log, count)
    return delays_s


def seen_from_afar_s(log: SqlEventLog, path: Path, count: int) -> list[float]:
    """Have another process append to the log, which is in this file."""
    program = [sys.executable, "-m", "bench.seen", f"sqlite:///{path}", "1", str(count)]
    with _watching(log, count) as delays_s:
        subprocess.run(program, check=True)
    return delays_s


@contextmanager
def _watching(log: SqlEventLog, count: int) -> Iterator[list[float]]:
    delays_s: list[float] = []
    all_seen = threading.Event()

    def note(event: Event) -> None:
        delays_s.append((CLOCK.now() - event.at).total_seconds())
        if len(delays_s) == count:
            all_seen.set()

    [last] = log.read(limit=1, reverse=True)
    with log.subscribe(note, last.id):
        yield delays_s
        all_seen.wait(_PATIENCE_S)


def _append_now_and_then(log: SqlEventLog, count: int) -> None:
    for _ in range(count):
        log.append(Source.SYSTEM, Null())
        CLOCK.sleep(_PAUSE_S)


def main(url: str, conversation: str, count: str) -> None:
    with closing(Database(url)) as database, open_notifier(database) as notifier:
        store = EventStore(database, lambda tree: tree, CLOCK, notifier)
        _append_now_and_then(store.open(ConversationId(conversation)), int(count))


if __name__ == "__main__":
    main(*sys.argv[1:])
