"""Processes that share a database, each with what it would open for itself."""

from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass, field

from pydantic import JsonValue
from sqlalchemy import insert

from patchwright.core.types.base import ConversationId, RandomIds
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import conversations
from patchwright.workers.store.events import EventStore, SqlEventLog
from patchwright.workers.store.notifier import open_notifier
from tests.fakes.clock import START, FakeClock


def unchanged(tree: JsonValue) -> JsonValue:
    return tree


def examples(database: Database, *, most: int) -> int:
    """Return how many to try; PostgreSQL takes five times as long for each."""
    return most if database.engine.dialect.name == "sqlite" else most * 2 // 5


@dataclass
class LogWorld:
    """One new conversation in a database, as several processes see it."""

    database: Database
    redact: Callable[[JsonValue], JsonValue] = unchanged
    clock: FakeClock = field(default_factory=FakeClock)

    def __post_init__(self) -> None:
        self._opened = ExitStack()
        self.conversation = ConversationId(RandomIds().new())
        row = {"id": self.conversation, "repo": "r", "title": "t", "created_at": START}
        with self.database.writing() as connection:
            connection.execute(insert(conversations).values(row))

    def open_store(self) -> EventStore:
        """Open what a process has: a database, and a doorbell, of its own."""
        url = self.database.engine.url.render_as_string(hide_password=False)
        database = self._opened.enter_context(closing(Database(url, pool_size=4)))
        notifier = self._opened.enter_context(open_notifier(database))
        return EventStore(database, self.redact, self.clock, notifier)

    def open_log(self) -> SqlEventLog:
        """Open the conversation's log in a process of its own."""
        return self.open_store().open(self.conversation)

    def close(self) -> None:
        self._opened.close()
