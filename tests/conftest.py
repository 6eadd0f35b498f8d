"""Real services for the tests: each is started or made when first asked for."""

import gc
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
import structlog

from tests.provision import environment
from tests.provision.emptied_database import EmptiedDatabases
from tests.provision.engine import ensure_engine
from tests.provision.guards import NothingLeftBehind, NothingSkipped
from tests.provision.image import ensure_image
from tests.provision.postgres_server import PostgresServer, postgres_server
from tests.provision.redis_server import redis_server
from tests.provision.sharing import SharingScheduling
from tests.schema import add_schema

# `jsonschema` imports it when found, for formats of international addresses alone; no
# description that tests read has one, and its grammar takes a second in each process.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

DATABASE_NUMBERS = count(1)
_HERE = Path(__file__).parent
# A test that is marked as long, and has no bound of its own.
LONG_S = 120.0
# All that may take longer comes as it is collected: first what needs no image, so that
# images can be made meanwhile.
VERY_LONG_S = 600.0
# What a test is by the folder it is in; each kind has a target of its own.
FOLDERS = {
    "flow/action": ("action", "a run of the GitHub Action"),
    "talk": ("talk", "a story of a service, told whole"),
    "web": ("web", "a story told in a real browser"),
    "action": ("action", "a run of the GitHub Action"),
    "deploy": ("deploy", "builds images, or starts the Compose stack"),
    "release": ("deploy", "builds images, or starts the Compose stack"),
    "tutorials": ("deploy", "builds images, or starts the Compose stack"),
}


def pytest_configure(config: pytest.Config) -> None:
    environment.reach_loopback_directly()
    config.addinivalue_line("markers", "real: fetches real packages from the network")
    config.addinivalue_line("markers", "long: takes half a minute or more")
    config.addinivalue_line("markers", "alone: measures times that others would spoil")
    for name, meaning in FOLDERS.values():
        config.addinivalue_line("markers", f"{name}: {meaning}")
    # Unasked, it draws each frame with its source, which takes seconds an error.
    renderer = structlog.dev.ConsoleRenderer.get_active()
    renderer.exception_formatter = structlog.dev.plain_traceback
    is_worker = hasattr(config, "workerinput")
    if is_worker:
        return
    config.pluginmanager.register(NothingSkipped())
    # Elsewhere a second run on the same engine would be taken for a leak of this one.
    if environment.is_ci():
        config.pluginmanager.register(NothingLeftBehind())


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    for item in items:
        folder = item.path.relative_to(_HERE).parent.as_posix()
        for begins, (marker, _) in FOLDERS.items():
            if f"{folder}/".startswith(f"{begins}/"):
                item.add_marker(marker)
    # Every core is busy to the end if what is long begins first.
    if config.getoption("loadgroup", default=False):
        items.sort(key=most_seconds, reverse=True)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(
    config: pytest.Config, log: object
) -> SharingScheduling | None:
    if config.getoption("dist") == "loadgroup":
        return SharingScheduling(config, log)
    return None


def most_seconds(item: pytest.Item) -> float:
    """Return how long a test may take, as far as its marks tell."""
    bound = item.get_closest_marker("timeout")
    if bound is not None:
        return min(float(bound.args[0]), VERY_LONG_S)
    return LONG_S if item.get_closest_marker("long") else 0.0


def pytest_collection_finish() -> None:
    # What is imported is there to stay: to look for garbage in it, again and again,
    # takes a tenth of the time.
    gc.freeze()


@pytest.fixture(scope="session")
def corpus() -> Path | None:
    """Return the folder with outside payloads and schemas, if there is one."""
    return environment.corpus()


@pytest.fixture(scope="session")
def docker_engine() -> None:
    """See to it that a Docker engine answers at the usual place."""
    ensure_engine()


@pytest.fixture(scope="session")
def sandbox_image() -> str:
    """Return the name of an image with git and Python that the engine has."""
    return ensure_image()


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """Run a Redis server for this test worker; its keys stay from test to test."""
    with redis_server() as url:
        yield url


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """Run a PostgreSQL cluster for this test worker."""
    with postgres_server() as server:
        yield server


@pytest.fixture(scope="session")
def postgres_template(postgres: PostgresServer) -> Iterator[str]:
    """Make a database with the newest schema, for others to be copies of it."""
    with postgres.fresh_database("template") as url:
        add_schema(url)
        yield "template"


@pytest.fixture(scope="session")
def emptied_databases(
    postgres: PostgresServer, postgres_template: str
) -> Iterator[EmptiedDatabases]:
    """Make databases with the newest schema that one test after the other uses."""
    databases = EmptiedDatabases(postgres, postgres_template)
    yield databases
    databases.close()


@pytest.fixture
def migrated_postgres_url(emptied_databases: EmptiedDatabases) -> Iterator[str]:
    """Return a PostgreSQL database with the newest schema that only this test sees."""
    with emptied_databases.lend() as url:
        yield url


@pytest.fixture
def postgres_url(postgres: PostgresServer) -> Iterator[str]:
    """Make an empty PostgreSQL database that only this test sees."""
    with postgres.fresh_database(f"test_{next(DATABASE_NUMBERS)}") as url:
        yield url
