"""Column types that mean the same in SQLite and PostgreSQL."""

from datetime import UTC, datetime

import sqlalchemy as sa
from sqlalchemy import DateTime, Dialect
from sqlalchemy.types import TypeDecorator

from patchwright.core.text.strings import storable


class ShortText(TypeDecorator[str]):
    """A short text, in which every character is one that a database takes.

    A NUL, or half of a surrogate pair, is stored as the sign for such: what strangers
    write must not decide whether a row can be stored. It is compared as it is stored.
    """

    impl = sa.String
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        del dialect
        return None if value is None else storable(value)


class LongText(ShortText):
    """A long text, with the same characters."""

    impl = sa.Text
    cache_ok = True


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


def sqlite_time_text(moment: datetime) -> str:
    """Return the text under which SQLite has a moment in an `AwareTime` column."""
    naive = moment.astimezone(UTC).replace(tzinfo=None)
    return naive.isoformat(sep=" ", timespec="microseconds")
