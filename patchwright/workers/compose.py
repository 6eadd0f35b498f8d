"""Put the service together from its settings."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final

import structlog
from pydantic import JsonValue

from patchwright.core.channel import ChannelRouter, Tracker
from patchwright.core.events.log import Notifier
from patchwright.core.llm.model import Model, Models
from patchwright.core.plugin import ForgeConnection, Hook, Plugin, ServiceDirectory
from patchwright.core.runtime import RuntimeFactory
from patchwright.core.settings.model import Settings
from patchwright.core.system.clock import Clock, SystemClock
from patchwright.core.system.crypto import KeyRing
from patchwright.core.text.redaction import Redactor
from patchwright.core.types.base import Ids, JobId, RandomIds
from patchwright.core.types.errors import SettingsError
from patchwright.core.types.threads import ForgeThread
from patchwright.integrations.git.mirror import MirrorCache
from patchwright.integrations.mcp.launcher import open_servers
from patchwright.integrations.registry import (
    PLUGINS,
    Plugins,
    describe_services,
    find_forge,
)
from patchwright.integrations.settings import NO_SHARED_KEY
from patchwright.resolver.guards.leaks import FindKnownSecrets
from patchwright.resolver.job import Job
from patchwright.resolver.services import ChatServices, RunOverrides, code_host_of
from patchwright.sandbox.factory import create_factory, find_fallback
from patchwright.workers.agent_configuration import (
    make_agent_configuration,
    models_by_name,
    warm_up,
)
from patchwright.workers.db.database import Database
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.inbox.missed_deliveries import CatchUp, MissedDeliveryStore
from patchwright.workers.jobs.worker import JobWorker
from patchwright.workers.ops.endpoints import Reporter
from patchwright.workers.ops.health import Health, HealthChecks
from patchwright.workers.ops.lifecycle import ProcessRole
from patchwright.workers.ops.liveness import process_name
from patchwright.workers.ops.process_metrics import (
    MeasuredModel,
    MeasuredSandboxes,
    ProcessMetrics,
)
from patchwright.workers.plugins.connections import (
    ChatConnections,
    PageChannel,
    connect_chats,
    connect_forge,
)
from patchwright.workers.plugins.people import ChatComposition
from patchwright.workers.store.accounts import AccountStore
from patchwright.workers.store.effects import EffectStore
from patchwright.workers.store.events import EventStore
from patchwright.workers.store.jobs import JobStore
from patchwright.workers.store.leases import LeaseStore
from patchwright.workers.store.notifier import open_notifier
from patchwright.workers.store.outcomes import OutcomeStore
from patchwright.workers.store.requests import ConversationLinkStore, RequestStore
from patchwright.workers.store.reservations import ReservationStore
from patchwright.workers.store.run_links import RunLinkStore
from patchwright.workers.store.run_store import RunServices, Stores
from patchwright.workers.store.secrets import SecretStore, load_or_make_key
from patchwright.workers.store.spend_alerts import SpendAlertStore
from patchwright.workers.store.threads import ThreadStore
from patchwright.workers.web.webhooks import WEBHOOK_ROUTE

KEY_FILE = "encryption.key"
SESSION_FILE = "session.secret"
_OWN_KEY_ID = "own"

log = structlog.get_logger(__name__)


def open_database(settings: Settings, clock: Clock | None = None) -> Database:
    settings.state_dir.mkdir(parents=True, exist_ok=True)
    return Database(settings.database.url.get_secret_value(), clock=clock)


def key_ring(settings: Settings, database: Database) -> KeyRing:
    """Return the configured keys; beside an SQLite file, a key of our own will do."""
    configured = settings.security.encryption_keys
    if configured:
        keys = {key.id: key.key.get_secret_value() for key in configured}
        return KeyRing(keys, configured[0].id)
    if not database.is_sqlite:
        raise SettingsError(NO_SHARED_KEY)
    key = load_or_make_key(settings.state_dir / KEY_FILE)
    return KeyRing({_OWN_KEY_ID: key}, _OWN_KEY_ID)


def session_secret(settings: Settings, database: Database) -> bytes | None:
    """Return what signs cookies and links; beside an SQLite file, one of our own."""
    configured = settings.security.session_secret
    if configured:
        return configured.get_secret_value().encode()
    if not database.is_sqlite:
        return None
    return load_or_make_key(settings.state_dir / SESSION_FILE)


def make_stores(
    database: Database,
    redact: Callable[[JsonValue], JsonValue],
    clock: Clock,
    ids: Ids,
    notifier: Notifier,
    *,
    default_role: str = "member",
) -> Stores:
    return Stores(
        accounts=AccountStore(database, ids, clock, default_role),
        effects=EffectStore(database),
        events=EventStore(database, redact, clock, notifier),
        jobs=JobStore(database),
        leases=LeaseStore(database),
        reservations=ReservationStore(database, ids),
        alerts=SpendAlertStore(database, clock),
        outcomes=OutcomeStore(database, ids),
        requests=RequestStore(database),
        threads=ThreadStore(database),
    )


def open_secrets(settings: Settings, database: Database, clock: Clock) -> SecretStore:
    return SecretStore(database, key_ring(settings, database), clock)


def make_services(
    settings: Settings,
    *,
    forge: ForgeConnection,
    directory: ServiceDirectory,
    trackers: Mapping[str, Tracker],
    chat: ChatServices,
    stores: Stores,
    links: ConversationLinkStore,
    clock: Clock,
    find_known: FindKnownSecrets,
    run_links: RunLinkStore,
    submit: Callable[[JobId], None],
    meters: ProcessMetrics,
    overrides: RunOverrides,
) -> RunServices:
    """Compose what running jobs takes; raises when a part of it cannot work here."""
    return RunServices(
        settings=settings,
        clock=clock,
        stores=stores,
        links=links,
        code_host=code_host_of(forge),
        channel=ChannelRouter(forge.channel, trackers, _page_channel(stores)),
        chat=chat,
        mirrors=MirrorCache(settings.state_dir / "mirrors", forge.git_environment),
        sandboxes=_sandboxes(settings, clock, meters),
        find_models=_find_models(settings, clock, meters),
        agent_configuration=make_agent_configuration(settings),
        open_mcp=open_servers,
        find_known=find_known,
        find_page=run_links.address_of,
        find_link=run_links.own_url,
        submit=submit,
        warm_up=partial(warm_up, settings),
        directory=directory,
        overrides=overrides,
    )


def _sandboxes(
    settings: Settings, clock: Clock, meters: ProcessMetrics
) -> RuntimeFactory:
    chosen = create_factory(settings.sandbox.kind, clock, settings.sandbox.image)
    if fallback := find_fallback(chosen):
        log.warning("sandbox_fallback", reason=fallback.reason, remedy=fallback.remedy)
    return MeasuredSandboxes(chosen, meters.count_start, clock)


def _find_models(
    settings: Settings, clock: Clock, meters: ProcessMetrics
) -> Callable[[str], Models]:
    def wrap(model: Model) -> Model:
        return MeasuredModel(model, meters.count_call, clock)

    return models_by_name(settings, clock, wrap)


def _page_channel(stores: Stores) -> PageChannel:
    def find_first(thread: ForgeThread) -> Job | None:
        found = stores.threads.conversation_of(thread)
        return stores.jobs.first_job_of(found) if found else None

    return PageChannel(find_first)


_NONE: Final = RunOverrides()


@dataclass(frozen=True)
class ServiceParts:
    """What web and worker share; `plugin` is that of the forge."""

    settings: Settings
    clock: Clock
    database: Database
    stores: Stores
    plugin: Plugin
    directory: ServiceDirectory
    forge: ForgeConnection
    chats: ChatConnections
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
    plugins: Plugins = PLUGINS,
) -> Iterator[ServiceParts]:
    """Open database and services for a process, and close them after it.

    `database_clock` stands in for the database's own.
    """
    clock, redact = SystemClock(), redactor.redact_json
    role = settings.accounts.default_role
    with closing(open_database(settings, database_clock)) as database:
        upgrade(database)
        secrets = open_secrets(settings, database, clock)
        plugin = find_forge(settings, plugins)
        with (
            closing(connect_forge(plugin, settings, secrets, clock)) as forge,
            closing(connect_chats(settings, secrets, clock, plugins)) as chats,
            open_notifier(database) as notifier,
        ):
            yield ServiceParts(
                settings=settings,
                clock=clock,
                database=database,
                stores=make_stores(
                    database, redact, clock, RandomIds(), notifier, default_role=role
                ),
                plugin=plugin,
                directory=describe_services(settings, plugins),
                forge=forge,
                chats=chats,
                secrets=secrets,
                redactor=redactor,
                submit=submit,
                meters=ProcessMetrics(),
            )


def make_worker(base: ServiceParts, overrides: RunOverrides = _NONE) -> JobWorker:
    services = make_services(
        base.settings,
        forge=base.forge,
        directory=base.directory,
        trackers=base.chats.trackers,
        chat=make_chat_composition(base).chat_services(),
        stores=base.stores,
        links=ConversationLinkStore(base.database, base.stores.events, RandomIds()),
        clock=base.clock,
        find_known=base.redactor.find_known,
        run_links=run_links_of(base),
        submit=base.submit,
        meters=base.meters,
        overrides=overrides,
    )
    log.info("worker_ready", sandbox=services.sandboxes.kind)
    return JobWorker(services, process_name())


def make_catch_up(base: ServiceParts) -> CatchUp:
    service, public_url = base.plugin.name, base.settings.server.public_url
    relay_url = base.directory.forge.webhook_url
    address = relay_url or public_url + WEBHOOK_ROUTE.format(service=service)

    def find_hooks() -> Iterable[Hook]:
        # Without an address of our own, no repository's hook is known to be ours.
        named = base.stores.threads.newest_repositories(service) if public_url else ()
        return base.forge.find_hooks(address, named)

    return CatchUp(find_hooks, MissedDeliveryStore(base.database, service), base.clock)


def make_chat_composition(base: ServiceParts) -> ChatComposition:
    return ChatComposition(
        settings=base.settings,
        clock=base.clock,
        database=base.database,
        stores=base.stores,
        secrets=base.secrets,
        plugin=base.plugin,
        directory=base.directory,
        forge=base.forge.forge,
        resolve_name=base.chats.name_person,
        is_from_own_site=base.chats.is_from_own_site,
    )


def health_checks_of(base: ServiceParts) -> HealthChecks:
    return HealthChecks(base.database, base.clock, base.settings.queue.sweep_seconds)


def make_reporter(base: ServiceParts, role: ProcessRole, health: Health) -> Reporter:
    return Reporter(
        role=role,
        health=health,
        clock=base.clock,
        show=base.meters.show,
        token=base.settings.telemetry.metrics_token,
    )


def run_links_of(base: ServiceParts) -> RunLinkStore:
    return RunLinkStore(
        database=base.database,
        ids=RandomIds(),
        clock=base.clock,
        secret=own_session_secret(base),
        public_url=base.settings.server.public_url,
        notify=base.stores.events.notifier.notify,
    )


def own_session_secret(base: ServiceParts) -> bytes | None:
    return session_secret(base.settings, base.database)
