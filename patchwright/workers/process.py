"""What a process of the service is made of."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final

import structlog
from sqlalchemy.exc import OperationalError

from patchwright.core.clock import Clock, SystemClock
from patchwright.core.errors import PatchwrightError
from patchwright.core.settings.model import Settings
from patchwright.core.text.redaction import Redactor
from patchwright.core.types.ids import JobId, RandomIds
from patchwright.integrations.github.adapter import GitHub
from patchwright.integrations.github.deliveries import Hook
from patchwright.integrations.github.reading.listening import SERVICE
from patchwright.workers.asking import make_asking
from patchwright.workers.compose import (
    make_services,
    make_stores,
    open_database,
    open_github,
    open_secrets,
    session_secret,
)
from patchwright.workers.connections import connect_github
from patchwright.workers.db.database import Database
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.intake.catching_up import CatchUp
from patchwright.workers.intake.dispatcher import Dispatcher
from patchwright.workers.intake.intake import Intake
from patchwright.workers.intake.record import Recorder
from patchwright.workers.linking.tokens import make_identity_tokens
from patchwright.workers.ops.desk import Desk
from patchwright.workers.ops.duty import process_name
from patchwright.workers.ops.figures import SharedFigures
from patchwright.workers.ops.health import Health
from patchwright.workers.ops.meters import Meters
from patchwright.workers.ops.vitals import Vitals
from patchwright.workers.roles import Role
from patchwright.workers.run.orders import Orders
from patchwright.workers.run.runner import Runner
from patchwright.workers.run.services import Stores
from patchwright.workers.run_links import run_link
from patchwright.workers.run_pages import make_run_pages
from patchwright.workers.signing_in import make_sign_in
from patchwright.workers.store.doorbells import open_doorbell
from patchwright.workers.store.missed import MissedStore
from patchwright.workers.store.secrets import SecretStore
from patchwright.workers.store.token_cache import StoredTokens
from patchwright.workers.talk.compose import Talking
from patchwright.workers.talk.sides import Doors, Edge
from patchwright.workers.talk.sites import Sites, connect_sites
from patchwright.workers.web.app import Services as WebServices
from patchwright.workers.web.app import WebApp, create_app
from patchwright.workers.web.deliveries import DELIVERIES
from patchwright.workers.web.linking.door import LinkingDoor
from patchwright.workers.web.linking.opening import open_linking
from patchwright.workers.web.receiver import Entrance

_NONE: Final = Orders()

# Takes whether deliveries can be stored.
JudgeWeb = Callable[[Callable[[], bool]], Health]

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
    sites: Sites
    secrets: SecretStore
    redactor: Redactor
    submit: Callable[[JobId], None]
    meters: Meters


@dataclass(frozen=True)
class Site:
    """The web side of a process, and what tells how it is."""

    app: WebApp
    desk: Desk


@contextmanager
def open_base(
    settings: Settings, redactor: Redactor, submit: Callable[[JobId], None]
) -> Iterator[Base]:
    """Open database and GitHub for a process, and close them after it."""
    clock = SystemClock()
    with closing(open_database(settings)) as database:
        upgrade_database(database)
        secrets = open_secrets(settings, database, clock)
        tokens = StoredTokens(secrets)
        with (
            closing(connect_github(settings.github, tokens, clock)) as github,
            closing(connect_sites(settings, secrets, clock)) as sites,
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
                sites=sites,
                secrets=secrets,
                redactor=redactor,
                submit=submit,
                meters=Meters(),
            )


def make_runner(base: Base, orders: Orders = _NONE) -> Runner:
    services = make_services(
        base.settings,
        github=base.github,
        boards=base.sites.boards,
        talk=make_talking(base).talk(),
        stores=base.stores,
        clock=base.clock,
        find_known=base.redactor.find_known,
        find_page=_page_finder(base),
        submit=base.submit,
        meters=base.meters,
        orders=orders,
    )
    log.info("worker_ready", sandbox=services.sandboxes.kind)
    return Runner(services, process_name())


def make_catch_up(base: Base) -> CatchUp:
    public_url = base.settings.server.public_url.rstrip("/")
    address = public_url + DELIVERIES.format(service=SERVICE)

    def find_hooks() -> Iterable[Hook]:
        # Without an address of our own, no repository's hook is known to be ours.
        named = base.stores.threads.newest_repositories(SERVICE) if public_url else ()
        return base.github.find_hooks(address, named)

    return CatchUp(find_hooks, MissedStore(base.database, SERVICE), base.clock)


def make_talking(base: Base) -> Talking:
    return Talking(
        settings=base.settings,
        clock=base.clock,
        database=base.database,
        stores=base.stores,
        secrets=base.secrets,
        forge=base.github.forge,
        named=base.sites.name_person,
    )


def vitals_of(base: Base) -> Vitals:
    return Vitals(base.database, base.clock, base.settings.queue.sweep_s)


def make_site(base: Base, judge: JudgeWeb | None = None, role: Role = Role.WEB) -> Site:
    """Compose the web side; `judge` says what else its process is judged by."""
    base.meters.registry.register(SharedFigures(base.database, base.clock))
    dispatcher = Dispatcher(base.submit)
    recorder = Recorder(base.stores.events, RandomIds())
    intake = Intake(base.database, recorder, dispatcher.dispatch)
    base.meters.watch_intake(lambda: intake.waiting)
    health = (judge or vitals_of(base).web)(lambda: intake.is_alive)
    desk = make_desk(base, role, health)
    secret = _session_secret(base)
    sign_in = make_sign_in(base.settings, secret, base.clock)
    edge = Edge(intake, _page_finder(base), secret)
    talking = make_talking(base)
    doors = base.sites.open_doors(talking, edge)
    web = WebServices(
        desk=desk,
        count_request=base.meters.count_request,
        intake=intake,
        dispatcher=dispatcher,
        entrances=_entrances(base, doors),
        companions=tuple(one for door in doors.values() for one in door.companions),
        pages=tuple(one for door in doors.values() for one in door.pages),
        linking=make_linking(base, secret, dispatcher),
        clock=base.clock,
        sign_in=sign_in,
        run_pages=make_run_pages(
            base.settings,
            base.stores,
            secret=secret,
            sign_in=sign_in,
            fetch_permission=base.github.forge.fetch_permission,
            clock=base.clock,
        ),
        asking=make_asking(
            base.settings,
            base.stores,
            secret=secret,
            sign_in=sign_in,
            fetch_permission=base.github.forge.fetch_permission,
            offer_to=partial(talking.repositories.find, ""),
            submit=intake.submit,
            clock=base.clock,
        ),
    )
    return Site(create_app(web), desk)


def make_desk(base: Base, role: Role, health: Health) -> Desk:
    return Desk(
        role=role,
        health=health,
        clock=base.clock,
        show=base.meters.show,
        token=base.settings.telemetry.metrics_token,
    )


def _entrances(base: Base, doors: Mapping[str, Doors]) -> Mapping[str, Entrance]:
    """Return where each service that is configured delivers, by its name."""
    found = {SERVICE: open_github(base.settings, base.github)}
    found |= {name: door.entrance for name, door in doors.items()}
    return {name: entrance for name, entrance in found.items() if entrance}


def _page_finder(base: Base) -> Callable[[JobId, datetime], str]:
    return partial(run_link, base.settings.server.public_url, _session_secret(base))


def make_linking(
    base: Base, secret: bytes | None, dispatcher: Dispatcher
) -> LinkingDoor | None:
    return open_linking(
        base.settings,
        secret,
        base.clock,
        database=base.database,
        accounts=base.stores.accounts,
        secrets=base.secrets,
        tokens=make_identity_tokens(
            base.settings.github, base.database, base.secrets, base.clock
        ),
        dispatch=dispatcher.dispatch,
    )


def _session_secret(base: Base) -> bytes | None:
    return session_secret(base.settings, base.database)


def upgrade_database(database: Database) -> None:
    """Bring it up to date; raises `DatabaseUnavailableError`."""
    try:
        upgrade(database)
    except OperationalError as error:
        text = f"the database does not answer: {error.orig}"
        raise DatabaseUnavailableError(text) from error
