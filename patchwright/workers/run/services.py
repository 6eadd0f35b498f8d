"""What running jobs takes, composed once for a process."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from patchwright.core.clock import Clock
from patchwright.core.forge import Forge, Reviews
from patchwright.core.llm.models import Models
from patchwright.core.mcp.servers import McpServers
from patchwright.core.runtime import Runtime, RuntimeFactory
from patchwright.core.settings.model import Settings
from patchwright.core.switchboard import ChannelRouter
from patchwright.core.types.ids import JobId
from patchwright.core.types.people import Actor
from patchwright.integrations.git.mirror import MirrorCache
from patchwright.resolver.admission import AdmissionPolicy
from patchwright.resolver.guards.secrets import FindKnownSecrets
from patchwright.resolver.house import service_policy
from patchwright.resolver.toolkit import AgentConfiguration
from patchwright.workers.run.orders import RunOverrides
from patchwright.workers.run.prepare import Sources
from patchwright.workers.run.talk import ChatServices
from patchwright.workers.store.accounts import AccountStore
from patchwright.workers.store.effects import EffectStore
from patchwright.workers.store.events import EventStore
from patchwright.workers.store.jobs import JobStore
from patchwright.workers.store.leases import LeaseStore
from patchwright.workers.store.outcomes import OutcomeStore
from patchwright.workers.store.requests import RequestStore
from patchwright.workers.store.reservations import ReservationStore
from patchwright.workers.store.threads import ThreadStore


@dataclass(frozen=True)
class Stores:
    """The tables, by what they are for."""

    accounts: AccountStore
    effects: EffectStore
    events: EventStore
    jobs: JobStore
    leases: LeaseStore
    reservations: ReservationStore
    outcomes: OutcomeStore
    requests: RequestStore
    threads: ThreadStore


@dataclass(frozen=True)
class CodeHost:
    """Where code lives, as runs use it.

    `fetch_identity` returns who we are there, None if that cannot be said. With
    `starts_no_checks` what we push there sets off no workflow.
    """

    forge: Forge
    reviews: Reviews
    fetch_identity: Callable[[], Actor | None]
    starts_no_checks: bool = False


@dataclass(frozen=True)
class RunServices:
    """The collaborators of every run.

    `find_models` returns those of a run whose main one has that name. `open_mcp` starts
    the servers of a sandbox. `find_known` finds the service's own secrets in a text.
    `find_page` returns the address of a run's page, empty where there is none. `submit`
    hands a job to the queue. `warm_up` begins what the model needs and takes long, for
    somebody who is about to need it. `orders` hold for every run.
    """

    settings: Settings
    clock: Clock
    stores: Stores
    code_host: CodeHost
    channel: ChannelRouter
    chat: ChatServices
    mirrors: MirrorCache
    sandboxes: RuntimeFactory
    find_models: Callable[[str], Models]
    conduct: AgentConfiguration
    open_mcp: Callable[[Settings, Runtime], McpServers]
    find_known: FindKnownSecrets
    find_page: Callable[[JobId, datetime], str]
    submit: Callable[[JobId], None]
    warm_up: Callable[[], None]
    overrides: RunOverrides = field(default_factory=RunOverrides)

    @property
    def sources(self) -> Sources:
        return Sources(self.channel, self.code_host.forge, self.mirrors)

    @property
    def policy(self) -> AdmissionPolicy:
        return service_policy(self.settings)
