"""What people chose once and for all: default repositories, and consent."""

from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, Connection, delete, select, update

from patchwright.core.types.base import AccountId, Value
from patchwright.core.types.threads import RepoRef
from patchwright.resolver.run_store import DEFAULT_REPOSITORY, consent_name
from patchwright.workers.db.database import Database, insert_or_replace
from patchwright.workers.db.tables import choices

ACCOUNT_SCOPE: Final = "account:"


def account_scope(account_id: AccountId) -> str:
    """Return the scope of one person, wherever they ask."""
    return f"{ACCOUNT_SCOPE}{account_id}"


class PlaceDefault(Value):
    """The repository that was chosen for a channel or a project, its `scope`."""

    scope: str
    repo: RepoRef
    chosen_by: str
    chosen_at: datetime


class ChoiceStore:
    """Keeps one value for each name in a scope; the newest choice counts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, scope: str, name: str) -> str | None:
        query = select(choices.c.value).where(_is(scope, name))
        with self._database.reading() as connection:
            return connection.scalars(query).one_or_none()

    def default_of(self, scope: str) -> RepoRef | None:
        """Return the repository that was chosen for a scope."""
        value = self.get(scope, DEFAULT_REPOSITORY)
        if value is None:
            return None
        return _read_repo(value)

    def list_places(self) -> tuple[PlaceDefault, ...]:
        """Return the repositories of channels and projects, and not those of people."""
        query = (
            select(choices)
            .where(choices.c.name == DEFAULT_REPOSITORY)
            .where(~choices.c.scope.startswith(ACCOUNT_SCOPE))
            .order_by(choices.c.scope)
        )
        with self._database.reading() as connection:
            return tuple(
                PlaceDefault(
                    scope=row.scope,
                    repo=_read_repo(row.value),
                    chosen_by=row.chosen_by,
                    chosen_at=row.chosen_at,
                )
                for row in connection.execute(query)
            )

    def put(self, scope: str, name: str, value: str, *, by: str, now: datetime) -> None:
        """Choose; `by` is the account or actor whose choice it is."""
        row = {
            "scope": scope,
            "name": name,
            "value": value,
            "chosen_by": by,
            "chosen_at": now,
        }
        with self._database.writing() as connection:
            insert_or_replace(connection, choices, row)

    def forget(self, scope: str, name: str) -> None:
        with self._database.writing() as connection:
            connection.execute(delete(choices).where(_is(scope, name)))


def move_choices(connection: Connection, old: RepoRef, new: RepoRef) -> None:
    """Let defaults follow a repository to its new name.

    Consent does not: the new owner may have other readers. It is asked for again.
    """
    is_default = choices.c.name == DEFAULT_REPOSITORY
    connection.execute(
        update(choices)
        .where(is_default, choices.c.value == str(old))
        .values(value=str(new))
    )
    connection.execute(delete(choices).where(choices.c.name == consent_name(old)))


def _read_repo(value: str) -> RepoRef:
    forge, _, full_name = value.partition(":")
    return RepoRef(forge=forge, full_name=full_name)


def _is(scope: str, name: str) -> ColumnElement[bool]:
    return (choices.c.scope == scope) & (choices.c.name == name)
