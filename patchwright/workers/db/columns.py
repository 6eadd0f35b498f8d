"""Column types that mean the same in SQLite and PostgreSQL."""

from datetime import UTC, datetime

from sqlalchemy import DateTime, Dialect
from sqlalchemy.types import TypeDecorator


class AwareTime(TypeDecorator[datetime]):
    """A moment in UTC; SQLite, which knows no time zones, keeps it without one."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(
        self, value: datetime | None, dialect: Dialect
    ) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time without a time zone cannot be stored")
        moment = value.astimezone(UTC)
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(
        self, value: datetime | None, dialect: Dialect
    ) -> datetime | None:
        if value is None or dialect.name != "sqlite":
            return value and value.astimezone(UTC)
        return value.replace(tzinfo=UTC)


def as_sqlite_keeps(moment: datetime) -> str:
    """Return the text under which SQLite has a moment in an `AwareTime` column."""
    naive = moment.astimezone(UTC).replace(tzinfo=None)
    return naive.isoformat(sep=" ", timespec="microseconds")
