"""What running jobs takes, composed once for a process."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from patchwright.core.channel import ChannelRouter
from patchwright.core.forge import Forge, Reviews
from patchwright.core.llm.model import Models
from patchwright.core.mcp import McpServers
from patchwright.core.plugin import ServiceDirectory
from patchwright.core.runtime import Runtime, RuntimeFactory
from patchwright.core.settings.model import Settings
from patchwright.core.settings.repository import CONFIG_FILE, RepositoryConfig
from patchwright.core.system.clock import Clock
from patchwright.core.types.base import JobId
from patchwright.core.types.people import Actor
from patchwright.core.types.work import Outcome
from patchwright.integrations.git.mirror import MirrorCache
from patchwright.resolver.admission import AdmissionPolicy, service_policy
from patchwright.resolver.dependencies import AgentConfiguration
from patchwright.resolver.guards.leaks import FindKnownSecrets
from patchwright.resolver.publish.destination import Invitation
from patchwright.resolver.publish.live import NO_PUBLISHER, LivePublisher
from patchwright.resolver.repository_references import ReferenceScope
from patchwright.workers.run.preparation import Sources
from patchwright.workers.store.accounts import AccountStore
from patchwright.workers.store.choices import ChoiceStore
from patchwright.workers.store.effects import EffectStore
from patchwright.workers.store.events import EventStore
from patchwright.workers.store.jobs import JobStore
from patchwright.workers.store.leases import LeaseStore
from patchwright.workers.store.outcomes import OutcomeStore
from patchwright.workers.store.requests import ConversationLinkStore, RequestStore
from patchwright.workers.store.reservations import ReservationStore
from patchwright.workers.store.threads import ThreadStore

WORK_AT_SERVICE: Final = (
    "Whoever runs the service gets it with `patchwright runs bundle {run}`."
)


@dataclass(frozen=True)
class RunOverrides:
    """Orders count before what a repository says for itself.

    `config` are values for fields of `RepositoryConfig`, by name, and `unsaid` those
    that count where the repository says nothing; `config_file` is where it says its
    own. With `is_dry_run` nothing is written anywhere outside, and what would be is
    told. `schema` is a JSON schema, as text, for what the agent hands over besides its
    words. Without `waits_for_people` a run that has a question ends with it. `answer`
    is how a request ends at once, where that is known already. `work_at` says where the
    change of a run is that is on no branch; `{run}` stands for its short id.
    """

    config: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    config_file: str = CONFIG_FILE
    is_dry_run: bool = False
    schema: str = ""
    waits_for_people: bool = True
    answer: Outcome | None = None
    work_at: str = WORK_AT_SERVICE

    def applied_to(self, config: RepositoryConfig) -> RepositoryConfig:
        """Return what a repository says with the orders on top of it."""
        said = config.model_fields_set
        unsaid = {k: v for k, v in self.defaults.items() if k not in said}
        return config.replace(**unsaid).replace(**self.config)


@dataclass(frozen=True)
class ChatServices:
    """The collaborators of such requests.

    `find_person` says who somebody is on the forge, None if nobody knows. `invite`
    makes what asks them to show it; with `can_invite` it may. `renew` asks a person to
    show it anew, where `needs_renewal` says so, which it does once. `find_places` says
    what texts can refer to, and `offer_to` names repositories that a person may see.
    `scope_of` is the name under which a person's own choices are kept.
    """

    find_person: Callable[[Actor], Actor | None]
    can_invite: bool
    invite: Callable[[Actor], Invitation | None]
    renew: Callable[[Actor], Invitation | None]
    needs_renewal: Callable[[Actor], bool]
    find_places: Callable[[], ReferenceScope]
    offer_to: Callable[[Actor], tuple[str, ...]]
    scope_of: Callable[[Actor], str]
    choices: ChoiceStore
    conversation_links: ConversationLinkStore


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
    reviews: Reviews | None
    fetch_identity: Callable[[], Actor | None]
    starts_no_checks: bool = False


@dataclass(frozen=True)
class RunServices:
    """The collaborators of every run.

    `find_models` returns those of a run whose main one has that name. `open_mcp` starts
    the servers of a sandbox. `find_known` finds the service's own secrets in a text.
    `find_page` returns the address of a run's page, empty where there is none. `submit`
    hands a job to the queue. `warm_up` begins what the model needs and takes long, for
    somebody who is about to need it. `overrides` hold for every run. `live` is how one
    run shows what it shows while it works.
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
    directory: ServiceDirectory
    overrides: RunOverrides = field(default_factory=RunOverrides)
    live: LivePublisher = NO_PUBLISHER

    @property
    def sources(self) -> Sources:
        return Sources(self.channel, self.code_host.forge, self.mirrors)

    @property
    def policy(self) -> AdmissionPolicy:
        return service_policy(self.settings, self.directory.forge.name)
