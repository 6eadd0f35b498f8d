"""A PostgreSQL cluster of our own, and fresh databases in it."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql

from tests.provision.errors import ProvisionError
from tests.provision.servers import free_port, running

# Debian keeps the server's programs out of PATH, one folder per major version.
DEBIAN_PROGRAMS = Path("/usr/lib/postgresql")
# A cluster that is thrown away has no use for surviving a power failure.
FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")
# PostgreSQL refuses to run as root; Debian's package makes this account.
SERVER_USER = "postgres"
SUPERUSER = "patchwright"


@dataclass(frozen=True)
class PostgresServer:
    """A running cluster that trusts whoever comes over loopback."""

    port: int

    @contextmanager
    def fresh_database(self, name: str, template: str = "template1") -> Iterator[str]:
        """Create a copy of the template, which is empty unless another one is named.

        Yields SQLAlchemy's URL; the database is dropped afterwards.
        """
        create = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
        names = (sql.Identifier(name), sql.Identifier(template))
        self._run(create.format(*names))
        try:
            yield f"postgresql+psycopg://{self._address}/{name}"
        finally:
            drop = sql.SQL("DROP DATABASE {} WITH (FORCE)")
            self._run(drop.format(sql.Identifier(name)))

    def answers(self) -> bool:
        try:
            self._run(sql.SQL("SELECT 1"))
        except psycopg.OperationalError:
            return False
        return True

    @property
    def _address(self) -> str:
        return f"{SUPERUSER}@127.0.0.1:{self.port}"

    def _run(self, statement: sql.SQL | sql.Composed) -> None:
        url = f"postgresql://{self._address}/postgres"
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(statement)


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """Make a cluster in a temporary folder and run it on a free loopback port."""
    folder = Path(tempfile.mkdtemp(prefix="patchwright-postgres-"))
    server = PostgresServer(free_port())
    try:
        _make_cluster(folder)
        argv = [*_as_server_user(), _program("postgres"), "-D", str(folder)]
        argv += ["-h", "127.0.0.1", "-p", str(server.port), "-k", str(folder)]
        argv += [part for setting in FAST for part in ("-c", setting)]
        with running(argv, log=folder / "log", answers=server.answers):
            yield server
    finally:
        shutil.rmtree(folder)


def _make_cluster(folder: Path) -> None:
    if _is_root():
        shutil.chown(folder, SERVER_USER, SERVER_USER)
    argv = [*_as_server_user(), _program("initdb"), "-D", str(folder), "--no-sync"]
    argv += ["--username", SUPERUSER, "--auth=trust", "--encoding=UTF8", "--locale=C"]
    made = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise ProvisionError(f"initdb failed:\n{made.stderr}")


def _as_server_user() -> list[str]:
    if not _is_root():
        return []
    user = [f"--reuid={SERVER_USER}", f"--regid={SERVER_USER}", "--init-groups"]
    # Changing the user clears the death signal that `running` asked for.
    return ["setpriv", *user, "--pdeathsig=KILL"]


def _is_root() -> bool:
    return os.geteuid() == 0


def _program(name: str) -> str:
    found = find_program(name)
    if found is None:
        raise ProvisionError(f"PostgreSQL's {name} is missing: install postgresql")
    return found


def find_program(name: str) -> str | None:
    """Return the newest installed program of PostgreSQL that has this name."""
    installed = sorted(DEBIAN_PROGRAMS.glob(f"*/bin/{name}"), key=_major_version)
    return str(installed[-1]) if installed else shutil.which(name)


def _major_version(program: Path) -> int:
    return int(program.parts[-3])
