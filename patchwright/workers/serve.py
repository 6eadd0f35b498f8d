"""The service's processes: web, worker and beat, together or apart."""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from enum import StrEnum

import structlog
from fastapi import FastAPI

from patchwright.core.clock import Clock, SystemClock
from patchwright.core.errors import SettingsError
from patchwright.core.logs import set_up_logging
from patchwright.core.settings.checks import service_errors
from patchwright.core.settings.model import Settings
from patchwright.core.settings.secret_values import secret_values
from patchwright.core.text.redaction import Redactor
from patchwright.core.types.ids import JobId, RandomIds
from patchwright.integrations.github.adapter import GitHub
from patchwright.workers.compose import (
    connect_github,
    make_entrances,
    make_services,
    make_stores,
    open_database,
    share_tokens,
)
from patchwright.workers.db.database import Database
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.intake.dispatcher import Dispatcher
from patchwright.workers.intake.intake import Intake
from patchwright.workers.intake.record import Recorder
from patchwright.workers.queue.app import add_tasks, make_celery, submitter
from patchwright.workers.queue.embedded import embedded_worker
from patchwright.workers.queue.processes import run_beat, run_worker
from patchwright.workers.run.runner import LEASE_S, Runner
from patchwright.workers.run.services import Stores
from patchwright.workers.web.app import Services as WebServices
from patchwright.workers.web.app import create_app
from patchwright.workers.web.server import make_server

log = structlog.get_logger(__name__)


class Role(StrEnum):
    """What a process does; `all` is web and worker in one."""

    ALL = "all"
    WEB = "web"
    WORKER = "worker"
    BEAT = "beat"


@dataclass(frozen=True)
class Base:
    """What web and worker share."""

    settings: Settings
    clock: Clock
    database: Database
    stores: Stores
    github: GitHub
    submit: Callable[[JobId], None]


def serve(settings: Settings, role: Role) -> int:
    """Run until SIGTERM or SIGINT; return the process's exit code.

    Raises `SettingsError` when the settings do not allow for this role.
    """
    problems = [*service_errors(settings), *_role_errors(settings, role)]
    if problems:
        raise SettingsError("\n".join(problems))
    redactor = Redactor(secret_values(settings))
    set_up_logging(redactor.redact_json, as_json=settings.log_json)
    celery = make_celery(settings.queue.broker_url.get_secret_value())
    log.info("starting", role=role)
    if role is Role.BEAT:
        run_beat(celery)
        return 0
    with open_base(settings, redactor, submitter(celery)) as base:
        if role is Role.WEB:
            return _serve_web(base)
        runner = make_runner(base)
        add_tasks(celery, runner)
        parallel = settings.limits.max_parallel
        if role is Role.WORKER:
            return run_worker(celery, runner, parallel)
        with embedded_worker(celery, runner, parallel):
            return _serve_web(base)


@contextmanager
def open_base(
    settings: Settings, redactor: Redactor, submit: Callable[[JobId], None]
) -> Iterator[Base]:
    """Open database and GitHub for a process, and close them after it."""
    clock = SystemClock()
    with closing(open_database(settings)) as database:
        upgrade(database)
        cache = share_tokens(settings, database, clock)
        with closing(connect_github(settings.github, cache, clock)) as github:
            yield Base(
                settings=settings,
                clock=clock,
                database=database,
                stores=make_stores(database, redactor.redact_json, clock, RandomIds()),
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
    return Runner(services, f"{socket.gethostname()}:{os.getpid()}", LEASE_S)


def make_app(base: Base) -> FastAPI:
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


def _serve_web(base: Base) -> int:
    address = base.settings.server
    make_server(make_app(base), address.host, address.port).run()
    return 0


def _role_errors(settings: Settings, role: Role) -> list[str]:
    broker = settings.queue.broker_url.get_secret_value()
    if role is Role.ALL or not broker.startswith("memory:"):
        return []
    text = (
        f"queue.broker_url: a {role} process of its own needs a broker that processes "
        "share: set PATCHWRIGHT_QUEUE__BROKER_URL to redis://HOST"
    )
    return [text]
