"""How far a source of requests was read."""

from datetime import datetime

from sqlalchemy import select

from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import hook_marks
from patchwright.workers.db.upsert import insert_or_replace


class ReadPositions:
    def __init__(self, database: Database) -> None:
        self._database = database

    def read_up_to(self, source: str) -> datetime | None:
        query = select(hook_marks.c.read_up_to).where(hook_marks.c.source == source)
        with self._database.reading() as connection:
            return connection.scalars(query).one_or_none()

    def put(self, source: str, read_up_to: datetime) -> None:
        row = {"source": source, "read_up_to": read_up_to}
        with self._database.writing() as connection:
            insert_or_replace(connection, hook_marks, row)
