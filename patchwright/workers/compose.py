"""Put the service together from its settings."""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial

import structlog
from pydantic import JsonValue

from patchwright.core.channel import Tracker
from patchwright.core.clock import Clock
from patchwright.core.crypto import KeyRing
from patchwright.core.errors import SettingsError
from patchwright.core.events.doorbell import Notifier
from patchwright.core.llm.model import Model
from patchwright.core.llm.models import Models
from patchwright.core.runtime import RuntimeFactory
from patchwright.core.settings.checks import NO_SHARED_KEY
from patchwright.core.settings.model import Settings
from patchwright.core.switchboard import ChannelRouter
from patchwright.core.types.ids import Ids, JobId
from patchwright.core.types.threads import ForgeThread
from patchwright.integrations.git.mirror import MirrorCache
from patchwright.integrations.github.adapter import GitHub
from patchwright.integrations.mcp.opening import open_servers
from patchwright.resolver.guards.secrets import FindKnownSecrets
from patchwright.sandbox.choose import create_factory
from patchwright.workers.conduct import make_agent_configuration
from patchwright.workers.connections import trust_for_git
from patchwright.workers.db.database import Database
from patchwright.workers.github_ear import GitHubReceiverLookup
from patchwright.workers.models import models_by_name, warm_up
from patchwright.workers.ops.measured import MeasuredModel, MeasuredSandboxes
from patchwright.workers.ops.meters import ProcessMetrics
from patchwright.workers.run.orders import RunOverrides
from patchwright.workers.run.own_threads import PageChannel
from patchwright.workers.run.services import CodeHost, RunServices, Stores
from patchwright.workers.run.talk import ChatServices
from patchwright.workers.store.accounts import AccountStore
from patchwright.workers.store.effects import EffectStore
from patchwright.workers.store.events import EventStore
from patchwright.workers.store.job import Job
from patchwright.workers.store.jobs import JobStore
from patchwright.workers.store.key_file import load_or_make_key
from patchwright.workers.store.leases import LeaseStore
from patchwright.workers.store.outcomes import OutcomeStore
from patchwright.workers.store.requests import RequestStore
from patchwright.workers.store.reservations import ReservationStore
from patchwright.workers.store.secrets import SecretStore
from patchwright.workers.store.threads import ThreadStore
from patchwright.workers.web.receiver import ConfirmNotice, WebhookSource, by_header

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
) -> Stores:
    return Stores(
        accounts=AccountStore(database, ids, clock),
        effects=EffectStore(database),
        events=EventStore(database, redact, clock, notifier),
        jobs=JobStore(database),
        leases=LeaseStore(database),
        reservations=ReservationStore(database, ids),
        outcomes=OutcomeStore(database, ids),
        requests=RequestStore(database),
        threads=ThreadStore(database),
    )


def open_secrets(settings: Settings, database: Database, clock: Clock) -> SecretStore:
    return SecretStore(database, key_ring(settings, database), clock)


def make_services(
    settings: Settings,
    *,
    github: GitHub,
    trackers: Mapping[str, Tracker],
    talk: ChatServices,
    stores: Stores,
    clock: Clock,
    find_known: FindKnownSecrets,
    find_page: Callable[[JobId, datetime], str],
    submit: Callable[[JobId], None],
    meters: ProcessMetrics,
    orders: RunOverrides,
) -> RunServices:
    """Compose what running jobs takes; raises when a part of it cannot work here."""
    return RunServices(
        settings=settings,
        clock=clock,
        stores=stores,
        code_host=CodeHost(
            forge=github.forge,
            reviews=github.channel,
            fetch_identity=github.fetch_identity,
            starts_no_checks=github.starts_no_checks,
        ),
        channel=ChannelRouter(github.channel, trackers, _page_channel(stores)),
        chat=talk,
        mirrors=MirrorCache(settings.state_dir / "mirrors", trust_for_git(settings.github)),
        sandboxes=_sandboxes(settings, clock, meters),
        find_models=_find_models(settings, clock, meters),
        conduct=make_agent_configuration(settings),
        open_mcp=open_servers,
        find_known=find_known,
        find_page=find_page,
        submit=submit,
        warm_up=partial(warm_up, settings),
        overrides=orders,
    )


def _sandboxes(settings: Settings, clock: Clock, meters: ProcessMetrics) -> RuntimeFactory:
    chosen = create_factory(settings.sandbox.kind, clock, settings.sandbox.image)
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


def open_github(
    settings: Settings, ear: GitHubReceiverLookup, confirm: ConfirmNotice | None = None
) -> WebhookSource:
    """Return the door for GitHub."""
    return WebhookSource(
        receiver=ear,
        identify=by_header("x-github-delivery"),
        max_body_bytes=settings.server.max_body_bytes,
        signature_header="x-hub-signature-256",
        confirm=confirm,
    )
