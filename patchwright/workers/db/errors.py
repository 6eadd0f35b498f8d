"""What goes wrong with the database, in words for people."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from patchwright.core.errors import PatchwrightError


class DatabaseUnavailableError(PatchwrightError):
    """The database does not answer, or does not do what is asked of it."""

    reason = "database-unavailable"


@contextmanager
def database_errors() -> Iterator[None]:
    """Raise `DatabaseUnavailableError` in place of what a driver raises."""
    try:
        yield
    except DBAPIError as error:
        raise DatabaseUnavailableError(
            f"the database cannot be used: {database_error_text(error)}; `patchwright doctor "
            "--only database` says what to do"
        ) from error


def database_error_text(error: SQLAlchemyError) -> str:
    """Return in one line what the database said, without the statement's values."""
    told = error.orig if isinstance(error, DBAPIError) else None
    return " ".join(str(told).split()) if told else type(error).__name__
