"""Read and write golden files: compressed databases, logs and snapshots."""

import gzip
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa

from patchwright.workers.db.database import Database
from patchwright.workers.db.upgrade import upgrade

HERE: Final = Path(__file__).parent
DATABASE: Final = ".sql.gz"
Cell = str | bytes | int | float | None


def schemas() -> list[str]:
    """Return the folders of the schemas that files are kept of."""
    return sorted({one.parent.name for one in HERE.glob(f"v*/*{DATABASE}")})


def databases() -> list[str]:
    """Return the names of all databases that are kept, with their folders."""
    found = HERE.glob(f"v*/*{DATABASE}")
    return sorted(str(one.relative_to(HERE)).removesuffix(DATABASE) for one in found)


def read(name: str) -> bytes:
    return gzip.decompress((HERE / f"{name}.gz").read_bytes())


def read_json(name: str) -> Any:
    return json.loads(read(f"{name}.json"))


def write(name: str, content: bytes) -> None:
    """Compress; the same content always makes the same file."""
    file = HERE / f"{name}.gz"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(gzip.compress(content, 9, mtime=0))


def write_json(name: str, value: object) -> None:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, indent=0)
    write(f"{name}.json", text.encode())


def dump(file: Path) -> str:
    """Write a database as SQL, the rows of each table sorted."""
    with closing(sqlite3.connect(file)) as connection:
        statements = list(connection.iterdump())
    is_row = [one.startswith("INSERT INTO ") for one in statements]
    first, last = is_row.index(True), len(is_row) - is_row[::-1].index(True)
    made = [one for one in statements[:last] if not one.startswith("INSERT INTO ")]
    rows = sorted(one for one in statements[first:last] if one.startswith("INSERT"))
    return "\n".join([*made, *rows, *statements[last:], ""])


def load(name: str, file: Path, replaced: Mapping[str, str] | None = None) -> None:
    """Make an SQLite file of a dump, with some texts replaced by others."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(read(f"{name}.sql").decode())
    for old, new in (replaced or {}).items():
        replace(file, old, new)


def replace(file: Path, old: str, new: str) -> None:
    """Replace a text in all cells of a database."""
    plain = (old.encode(), new.encode())

    def changed(cell: Cell) -> Cell:
        if isinstance(cell, bytes):
            return cell.replace(*plain)
        return cell.replace(old, new) if isinstance(cell, str) else cell

    with closing(sqlite3.connect(file)) as connection:
        for table, columns in _tables(connection):
            wanted = ", ".join(f'"{one}"' for one in columns)
            set_to = ", ".join(f'"{one}" = ?' for one in columns)
            rows = connection.execute(f'SELECT rowid, {wanted} FROM "{table}"')
            for rowid, *cells in rows.fetchall():
                found = [changed(cell) for cell in cells]
                if found != cells:
                    statement = f'UPDATE "{table}" SET {set_to} WHERE rowid = ?'
                    connection.execute(statement, (*found, rowid))
        connection.commit()


def copy(file: Path, database: Database) -> None:
    """Copy an SQLite file into an empty PostgreSQL database, in the file's schema."""
    with closing(sqlite3.connect(file)) as source:
        (schema,) = source.execute("SELECT version_num FROM alembic_version").fetchone()
        upgrade(database, to=schema)
        made = sa.MetaData()
        made.reflect(database.engine)
        columns_of = dict(_tables(source))
        with database.writing() as connection:
            for table in made.sorted_tables:
                rows = list(_rows(source, table, columns_of[table.name]))
                if rows and table.name != "alembic_version":
                    connection.execute(sa.insert(table), rows)


def _rows(
    source: sqlite3.Connection, table: sa.Table, columns: list[str]
) -> Iterator[dict[str, object]]:
    """Yield rows with values of the types that the table has."""
    read_as = [_reader(table.c[one].type) for one in columns]
    wanted = ", ".join(f'"{one}"' for one in columns)
    for row in source.execute(f'SELECT {wanted} FROM "{table.name}"'):
        cells = zip(row, read_as, strict=True)
        converted = [None if cell is None else convert(cell) for cell, convert in cells]
        yield dict(zip(columns, converted, strict=True))


def _tables(connection: sqlite3.Connection) -> Iterator[tuple[str, list[str]]]:
    query = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
    for (table,) in connection.execute(query).fetchall():
        info = connection.execute(f'PRAGMA table_info("{table}")').fetchall()
        yield table, [column[1] for column in info]


def _reader(kind: sa.types.TypeEngine[Any]) -> Callable[[Any], object]:
    match kind:
        case sa.DateTime():
            return lambda text: datetime.fromisoformat(text).replace(tzinfo=UTC)
        case sa.Boolean():
            return bool
        case _:
            return lambda cell: cell
