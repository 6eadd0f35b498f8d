"""What a process of the service is made of."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

import structlog

from patchwright.core.clock import Clock, SystemClock
from patchwright.core.settings.model import Settings
from patchwright.core.text.redaction import Redactor
from patchwright.core.types.ids import JobId, RandomIds
from patchwright.integrations.github.adapter import GitHub
from patchwright.integrations.github.deliveries import Hook
from patchwright.integrations.github.reading.listening import SERVICE
from patchwright.workers.compose import (
    make_services,
    make_stores,
    open_database,
    open_secrets,
    session_secret,
)
from patchwright.workers.connections import connect_github
from patchwright.workers.db.database import Database
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.intake.catching_up import CatchUp
from patchwright.workers.ops.duty import process_name
from patchwright.workers.ops.health import Health
from patchwright.workers.ops.meters import ProcessMetrics
from patchwright.workers.ops.reporter import Reporter
from patchwright.workers.ops.vitals import HealthChecks
from patchwright.workers.roles import Role
from patchwright.workers.run.orders import RunOverrides
from patchwright.workers.run.runner import JobWorker
from patchwright.workers.run.services import Stores
from patchwright.workers.run_links import make_run_link
from patchwright.workers.store.doorbells import open_notifier
from patchwright.workers.store.missed import MissedDeliveryStore
from patchwright.workers.store.secrets import SecretStore
from patchwright.workers.store.token_cache import InstallationTokenStore
from patchwright.workers.talk.compose import ChatComposition
from patchwright.workers.talk.sites import ChatPlugins, connect_plugins
from patchwright.workers.web.deliveries import WEBHOOK_ROUTE

_NONE: Final = RunOverrides()

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class ServiceParts:
    """What web and worker share."""

    settings: Settings
    clock: Clock
    database: Database
    stores: Stores
    github: GitHub
    sites: ChatPlugins
    secrets: SecretStore
    redactor: Redactor
    submit: Callable[[JobId], None]
    meters: ProcessMetrics


@contextmanager
def open_service_parts(
    settings: Settings,
    redactor: Redactor,
    submit: Callable[[JobId], None],
    database_clock: Clock | None = None,
) -> Iterator[ServiceParts]:
    """Open database and GitHub for a process, and close them after it.

    `database_clock` stands in for the database's own.
    """
    clock = SystemClock()
    with closing(open_database(settings, database_clock)) as database:
        upgrade(database)
        secrets = open_secrets(settings, database, clock)
        tokens = InstallationTokenStore(secrets)
        with (
            closing(connect_github(settings.github, tokens, clock)) as github,
            closing(connect_plugins(settings, secrets, clock)) as sites,
            open_notifier(database) as notifier,
        ):
            yield ServiceParts(
                settings=settings,
                clock=clock,
                database=database,
                stores=make_stores(
                    database, redactor.redact_json, clock, RandomIds(), notifier
                ),
                github=github,
                sites=sites,
                secrets=secrets,
                redactor=redactor,
                submit=submit,
                meters=ProcessMetrics(),
            )


def make_worker(base: ServiceParts, orders: RunOverrides = _NONE) -> JobWorker:
    services = make_services(
        base.settings,
        github=base.github,
        trackers=base.sites.trackers,
        talk=make_chat_composition(base).chat_services(),
        stores=base.stores,
        clock=base.clock,
        find_known=base.redactor.find_known,
        find_page=page_finder(base),
        submit=base.submit,
        meters=base.meters,
        orders=orders,
    )
    log.info("worker_ready", sandbox=services.sandboxes.kind)
    return JobWorker(services, process_name())


def make_catch_up(base: ServiceParts) -> CatchUp:
    public_url = base.settings.server.public_url
    address = public_url + WEBHOOK_ROUTE.format(service=SERVICE)

    def find_hooks() -> Iterable[Hook]:
        # Without an address of our own, no repository's hook is known to be ours.
        named = base.stores.threads.newest_repositories(SERVICE) if public_url else ()
        return base.github.find_hooks(address, named)

    return CatchUp(find_hooks, MissedDeliveryStore(base.database, SERVICE), base.clock)


def make_chat_composition(base: ServiceParts) -> ChatComposition:
    return ChatComposition(
        settings=base.settings,
        clock=base.clock,
        database=base.database,
        stores=base.stores,
        secrets=base.secrets,
        forge=base.github.forge,
        resolve_name=base.sites.name_person,
        is_from_own_site=base.sites.is_from_own_site,
    )


def vitals_of(base: ServiceParts) -> HealthChecks:
    return HealthChecks(base.database, base.clock, base.settings.queue.sweep_s)


def make_reporter(base: ServiceParts, role: Role, health: Health) -> Reporter:
    return Reporter(
        role=role,
        health=health,
        clock=base.clock,
        show=base.meters.show,
        token=base.settings.telemetry.metrics_token,
    )


def page_finder(base: ServiceParts) -> Callable[[JobId, datetime], str]:
    return partial(make_run_link, base.settings.server.public_url, own_session_secret(base))


def own_session_secret(base: ServiceParts) -> bytes | None:
    return session_secret(base.settings, base.database)
