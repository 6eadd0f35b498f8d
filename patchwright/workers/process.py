"""What a process of the service is made of."""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

import structlog
from sqlalchemy.exc import OperationalError

from patchwright.core.clock import Clock, SystemClock
from patchwright.core.errors import PatchwrightError
from patchwright.core.settings.model import Settings
from patchwright.core.text.redaction import Redactor
from patchwright.core.types.ids import JobId, RandomIds
from patchwright.integrations.github.adapter import GitHub
from patchwright.workers.compose import (
    make_entrances,
    make_services,
    make_stores,
    open_database,
    share_tokens,
)
from patchwright.workers.connections import connect_github
from patchwright.workers.db.database import Database
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.intake.dispatcher import Dispatcher
from patchwright.workers.intake.intake import Intake
from patchwright.workers.intake.record import Recorder
from patchwright.workers.run.runner import Runner
from patchwright.workers.run.services import Stores
from patchwright.workers.store.doorbells import open_doorbell
from patchwright.workers.web.app import Services as WebServices
from patchwright.workers.web.app import WebApp, create_app

log = structlog.get_logger(__name__)


class DatabaseUnavailableError(PatchwrightError):
    """The database cannot be reached, or does not let us in."""

    reason = "database-unavailable"


@dataclass(frozen=True)
class Base:
    """What web and worker share."""

    settings: Settings
    clock: Clock
    database: Database
    stores: Stores
    github: GitHub
    submit: Callable[[JobId], None]


@contextmanager
def open_base(
    settings: Settings, redactor: Redactor, submit: Callable[[JobId], None]
) -> Iterator[Base]:
    """Open database and GitHub for a process, and close them after it."""
    clock = SystemClock()
    with closing(open_database(settings)) as database:
        _upgrade(database)
        cache = share_tokens(settings, database, clock)
        with (
            closing(connect_github(settings.github, cache, clock)) as github,
            open_doorbell(database) as doorbell,
        ):
            yield Base(
                settings=settings,
                clock=clock,
                database=database,
                stores=make_stores(
                    database, redactor.redact_json, clock, RandomIds(), doorbell
                ),
                github=github,
                submit=submit,
            )


def make_runner(base: Base) -> Runner:
    services = make_services(
        base.settings,
        github=base.github,
        stores=base.stores,
        clock=base.clock,
        submit=base.submit,
    )
    log.info("worker_ready", sandbox=services.sandboxes.kind)
    return Runner(services, f"{socket.gethostname()}:{os.getpid()}")


def make_app(base: Base) -> WebApp:
    dispatcher = Dispatcher(base.submit)
    recorder = Recorder(base.stores.events, RandomIds())
    web = WebServices(
        database=base.database,
        intake=Intake(base.database, recorder, dispatcher.dispatch),
        dispatcher=dispatcher,
        entrances=make_entrances(base.settings, base.github),
        clock=base.clock,
    )
    return create_app(web)


def _upgrade(database: Database) -> None:
    try:
        upgrade(database)
    except OperationalError as error:
        text = f"the database does not answer: {error.orig}"
        raise DatabaseUnavailableError(text) from error
