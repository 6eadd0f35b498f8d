"""The schema and the two databases it must mean the same in."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from importlib.resources import files
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, insert, select, text
from sqlalchemy.exc import IntegrityError, StatementError

from patchwright.core.types.errors import SettingsError
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import conversations, jobs, metadata, threads
from patchwright.workers.db.upgrade import later_schema, missing_migrations, upgrade

NOON = datetime(2030, 1, 1, 12, 0, 0, 123456, tzinfo=UTC)


def test_migrations_make_exactly_the_declared_tables(database: Database) -> None:
    with database.reading() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, metadata) == []


def test_the_files_of_migrations_are_named_after_their_schemas(
    empty_database_url: str,
) -> None:
    config = Config()
    folder = str(files("patchwright.workers.db") / "migrations")
    config.set_main_option("script_location", folder)
    config.set_main_option("path_separator", "os")
    scripts = ScriptDirectory.from_config(config).walk_revisions()
    with closing(Database(empty_database_url)) as empty:
        missing = missing_migrations(empty)
    assert missing == tuple(reversed([one.revision for one in scripts]))


def test_upgrading_twice_changes_nothing(database: Database) -> None:
    _store_conversation(database, NOON)
    upgrade(database)
    with database.reading() as connection:
        assert connection.scalars(select(conversations.c.id)).all() == ["c1"]


def test_the_version_before_works_with_what_a_later_one_has_migrated(
    database: Database,
) -> None:
    _store_conversation(database, NOON)
    with database.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    assert missing_migrations(database) == ()
    assert later_schema(database) == "9999"
    upgrade(database)
    with database.reading() as connection:
        assert connection.scalars(select(conversations.c.id)).all() == ["c1"]
        versions = connection.scalars(text("SELECT version_num FROM alembic_version"))
        assert versions.all() == ["9999"]


def test_what_is_missing_is_told_oldest_first(empty_database_url: str) -> None:
    with closing(Database(empty_database_url)) as old:
        assert missing_migrations(old)[:2] == ("0001", "0002")
        upgrade(old, "0002")
        assert missing_migrations(old)[0] == "0003"
        assert later_schema(old) == ""


def test_jobs_from_before_their_kind_was_kept_were_asked_for(
    empty_database_url: str,
) -> None:
    with closing(Database(empty_database_url)) as old:
        upgrade(old, "0002")
        _store_conversation(old, NOON)
        with old.writing() as connection:
            connection.execute(
                text(
                    "INSERT INTO jobs (id, conversation_id, state, trigger, created_at)"
                    " VALUES ('j1', 'c1', 'done', '{}', '2030-01-01 12:00:00')"
                )
            )
        upgrade(old)
        with old.reading() as connection:
            [row] = connection.execute(select(jobs.c.kind, jobs.c.is_counted))
    assert tuple(row) == ("comment-mention", True)


def test_processes_that_start_together_take_turns_to_upgrade(
    empty_database_url: str,
) -> None:
    databases = [Database(empty_database_url) for _ in range(4)]
    upgrades = [threading.Thread(target=upgrade, args=(one,)) for one in databases]
    for thread in upgrades:
        thread.start()
    for thread in upgrades:
        thread.join()
    with databases[0].reading() as connection:
        versions = connection.scalars(text("SELECT version_num FROM alembic_version"))
        assert len(versions.all()) == 1
    for one in databases:
        one.close()


def test_a_new_file_is_set_up_by_all_who_open_it_at_once(tmp_path: Path) -> None:
    for number in range(80):
        url = f"sqlite:///{tmp_path / f'{number}.db'}"
        together = threading.Barrier(8)

        def write(url: str = url, together: threading.Barrier = together) -> None:
            with closing(Database(url)) as database:
                together.wait()
                with database.writing() as connection:
                    connection.execute(text("CREATE TABLE IF NOT EXISTS one (a)"))

        with ThreadPoolExecutor(together.parties) as pool:
            writes = [pool.submit(write) for _ in range(together.parties)]
        assert [one.exception() for one in writes] == [None] * together.parties


def test_a_time_comes_back_aware_and_in_utc(database: Database) -> None:
    elsewhere = NOON.astimezone(timezone(timedelta(hours=5, minutes=30)))
    _store_conversation(database, elsewhere)
    with database.reading() as connection:
        stored = connection.scalars(select(conversations.c.created_at)).one()
    assert stored == NOON
    assert stored.utcoffset() == timedelta(0)


def test_a_time_without_zone_is_refused(database: Database) -> None:
    with pytest.raises(StatementError, match="without a time zone"):
        _store_conversation(database, NOON.replace(tzinfo=None))


def test_foreign_keys_hold(database: Database) -> None:
    row = {"key": "k", "conversation_id": "nobody's", "linked_at": NOON}
    with pytest.raises(IntegrityError), database.writing() as connection:
        connection.execute(insert(threads).values(row))


def test_an_error_takes_the_whole_transaction_back(database: Database) -> None:
    row = _conversation(NOON)
    with pytest.raises(IntegrityError), database.writing() as connection:
        _insert_twice(connection, row)
    with database.reading() as connection:
        assert connection.scalars(select(conversations.c.id)).all() == []


def test_a_reader_does_not_wait_for_a_writer(database: Database) -> None:
    with database.writing() as writer, database.reading() as reader:
        writer.execute(insert(conversations).values(_conversation(NOON)))
        assert reader.scalars(select(conversations.c.id)).all() == []


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("sqlite://", "needs a file"),
        ("sqlite:///:memory:", "needs a file"),
        ("mysql://h/d", "mysql is not supported"),
        ("no url, secret", "is not a database URL"),
    ],
)
def test_a_url_that_cannot_serve_is_refused_by_name(url: str, complaint: str) -> None:
    with pytest.raises(SettingsError, match=complaint) as refusal:
        Database(url)
    assert "secret" not in str(refusal.value)


def test_a_database_that_is_not_there_does_not_answer(tmp_path: Path) -> None:
    with closing(Database(f"sqlite:///{tmp_path}/no/folder/x.db")) as nowhere:
        assert not nowhere.answers()


def _insert_twice(connection: Connection, row: dict[str, object]) -> None:
    connection.execute(insert(conversations).values(row))
    connection.execute(insert(conversations).values(row))


def _store_conversation(database: Database, at: datetime) -> None:
    with database.writing() as connection:
        connection.execute(insert(conversations).values(_conversation(at)))


def _conversation(at: datetime) -> dict[str, object]:
    return {"id": "c1", "repo": "github:a/b", "title": "t", "created_at": at}
