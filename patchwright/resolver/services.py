"""The dependencies of a run: services for its steps and for its agent."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Protocol

from pydantic import SecretStr

from patchwright.core.agent.agents import Agent, coder
from patchwright.core.agent.budget import Budget
from patchwright.core.agent.results import HeldBack
from patchwright.core.agent.run_log import (
    ReleaseSignal,
    SteeringFilter,
    ignore_steering,
)
from patchwright.core.channel import ChannelRouter
from patchwright.core.condense.condenser import Condenser
from patchwright.core.events.log import EventLog
from patchwright.core.forge import Forge, Reviews
from patchwright.core.knowledge.search import KnowledgeLibrary, NoKnowledgeLibrary
from patchwright.core.llm.model import Image, Models
from patchwright.core.mcp import McpServers, NoMcpServers
from patchwright.core.plugin import ForgeConnection, ServiceDirectory
from patchwright.core.runtime import Runtime, RuntimeFactory, SandboxSpec
from patchwright.core.security.analyzer import Analyzer, ConfirmPolicy
from patchwright.core.settings.model import Settings
from patchwright.core.settings.repository import (
    CONFIG_FILE,
    PROTECTED_PATHS,
    RepositoryConfig,
)
from patchwright.core.system.clock import Clock
from patchwright.core.types.base import JobId
from patchwright.core.types.people import Actor
from patchwright.core.types.work import Limits, Outcome, Task
from patchwright.integrations.git.commits import Signature
from patchwright.integrations.git.mirror import MirrorCache
from patchwright.integrations.git.objects import ObjectStore
from patchwright.resolver.admission import AdmissionPolicy, service_policy
from patchwright.resolver.guards.leaks import (
    FindKnownSecrets,
    PrivateWords,
    find_no_secrets,
)
from patchwright.resolver.messages.readers import Reader
from patchwright.resolver.preparation import Sources
from patchwright.resolver.publish.destination import Invitation
from patchwright.resolver.publish.live import NO_PUBLISHER, LivePublisher
from patchwright.resolver.repository_references import ReferenceScope
from patchwright.resolver.run_store import Choices
from patchwright.resolver.set_up.cache import SetUpCache
from patchwright.resolver.set_up.reuse import SetUpReuse
from patchwright.resolver.set_up.sandboxes import SetUp


@dataclass(frozen=True)
class AgentConfiguration:
    """How the agent works; all runs of a process share it."""

    condenser: Condenser
    analyzer: Analyzer
    agent: Agent = field(default_factory=coder)
    confirm: ConfirmPolicy = "never"
    max_delegate_depth: int = 0


class Checkpoints(Protocol):
    """Keeps the newest work tree of a run outside its sandbox, as a bundle."""

    def save(self, bundle: bytes) -> None: ...

    def load(self) -> bytes | None: ...


def open_no_mcp(runtime: Runtime) -> McpServers:
    del runtime
    return NoMcpServers()


def unchanged_text(text: str) -> str:
    return text


def no_private_words() -> PrivateWords | None:
    """Return None: if all words are public, there are no private words to find."""
    return None


@dataclass(frozen=True)
class RunDependencies:
    """The collaborators of one run. `author` signs its commits.

    `filter_steering` checks messages of people to the run. `open_mcp` starts the MCP
    servers of a sandbox. `release_signal` is done when this process must release the
    run, so that another worker continues it. Without `checkpoints` no worker continues
    it. The repository's `config_file` sets `protected_paths`, which only people may
    change. `find_known` finds secrets with a known value. With a `signing_key` the
    commits are signed. `images` are the task's images, by name. In a replay
    `recorded_review` returns what the agent was told when it finished.
    `redact_private` removes private words from a text, `redact_private_title` from a
    title. `find_private_words` returns the words that no file may repeat, if any.
    `set_up_cache` has what set-ups of the `repository`, known by that name, have made.
    """

    run_id: str
    models: Models
    sandboxes: RuntimeFactory
    spec: SandboxSpec
    code: ObjectStore
    log: EventLog
    limits: Limits
    run_budget: Budget
    clock: Clock
    author: Signature
    agent_configuration: AgentConfiguration
    filter_steering: SteeringFilter = ignore_steering
    library: KnowledgeLibrary = field(default_factory=NoKnowledgeLibrary)
    open_mcp: Callable[[Runtime], McpServers] = open_no_mcp
    checkpoints: Checkpoints | None = None
    release_signal: ReleaseSignal = field(default_factory=Future)
    protected_paths: tuple[str, ...] = PROTECTED_PATHS
    config_file: str = CONFIG_FILE
    find_known: FindKnownSecrets = find_no_secrets
    signing_key: SecretStr | None = None
    images: Mapping[str, Image] = field(default_factory=dict)
    recorded_review: Callable[[], HeldBack | None] | None = None
    redact_private: Callable[[str], str] = unchanged_text
    redact_private_title: Callable[[str], str] = unchanged_text
    find_private_words: Callable[[], PrivateWords | None] = no_private_words
    set_up_cache: SetUpCache | None = None
    repository: str = ""


def set_up_of_task(task: Task, dependencies: RunDependencies) -> SetUp:
    """Return the set-up of all sandboxes of a run."""
    return SetUp(
        task.setup,
        task.setup_may_fail,
        dependencies.config_file,
        _reuse_of_task(task, dependencies),
    )


def _reuse_of_task(task: Task, dependencies: RunDependencies) -> SetUpReuse | None:
    cache = dependencies.set_up_cache
    if cache is None or not dependencies.repository:
        return None
    return SetUpReuse(
        cache=cache,
        repository=dependencies.repository,
        trusted_sha=task.trusted_sha,
        code=dependencies.code,
        spec=dependencies.spec,
        log=dependencies.log,
        clock=dependencies.clock,
    )


WORK_AT_SERVICE: Final = (
    "The operator of the service gets it with `patchwright runs bundle {run}`."
)


@dataclass(frozen=True)
class RunOverrides:
    """Values of the operator that override the repository's configuration.

    `config` has values for fields of `RepositoryConfig`, by name. `defaults` are used
    for fields that the repository does not set. `config_file` is the repository's file.
    A dry run writes nothing to any service, and stores the planned writes. `schema` is
    a JSON schema, as text, for the structured result of the agent. Without
    `waits_for_people` a run ends when it has a question. Without
    `looks_for_competitors` a run ignores open pull requests of other people for the
    same issue. `answer`, if given, is the outcome of every request. `work_at` says
    where to find a change that is on no branch; `{run}` is the short id of its run.
    `reader` is who reads the messages.
    """

    config: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    config_file: str = CONFIG_FILE
    is_dry_run: bool = False
    schema: str = ""
    waits_for_people: bool = True
    looks_for_competitors: bool = True
    answer: Outcome | None = None
    work_at: str = WORK_AT_SERVICE
    reader: Reader = Reader.REQUESTER

    def applied_to(self, config: RepositoryConfig) -> RepositoryConfig:
        """Return the repository's configuration with these overrides."""
        repository_fields = config.model_fields_set
        defaults = {
            k: v for k, v in self.defaults.items() if k not in repository_fields
        }
        return config.replace(**defaults).replace(**self.config)


def needs_no_account(_actor: Actor) -> str:
    """Tell nobody to sign in."""
    return ""


@dataclass(frozen=True)
class ChatServices:
    """The services for requests from chats and tickets.

    `find_person` returns the forge account of a person, None if it is not known.
    `invite` makes an invitation to link the account; `can_invite` says whether this is
    possible. `renew` makes an invitation to link it again, if `needs_renewal` says so;
    it says so once. `find_places` returns what texts can refer to. `offer_to` returns
    names of repositories that a person may see. `scope_of` is the name under which a
    person's own choices are stored. `ask_to_sign_in` returns what to tell somebody on
    the forge who needs an account first, and nothing for all others.
    """

    find_person: Callable[[Actor], Actor | None]
    can_invite: bool
    invite: Callable[[Actor], Invitation | None]
    renew: Callable[[Actor], Invitation | None]
    needs_renewal: Callable[[Actor], bool]
    find_places: Callable[[], ReferenceScope]
    offer_to: Callable[[Actor], tuple[str, ...]]
    scope_of: Callable[[Actor], str]
    choices: Choices
    ask_to_sign_in: Callable[[Actor], str] = needs_no_account


@dataclass(frozen=True)
class CodeHost:
    """The forge, as runs use it.

    `fetch_identity` returns our account on the forge, None if it is not known. With
    `starts_no_checks` our pushes start no workflow there.
    """

    forge: Forge
    reviews: Reviews | None
    fetch_identity: Callable[[], Actor | None]
    starts_no_checks: bool = False


def code_host_of(connection: ForgeConnection) -> CodeHost:
    return CodeHost(
        forge=connection.forge,
        reviews=connection.reviews,
        fetch_identity=connection.fetch_identity,
        starts_no_checks=connection.starts_no_checks,
    )


@dataclass(frozen=True, kw_only=True)
class StepServices:
    """The services that every step can use.

    `find_models` returns the models of a run, by the name of its main model. `open_mcp`
    starts the MCP servers of a sandbox. `find_known` finds the service's own secrets in
    a text. `find_page` returns the address of a run's page, and `find_link`, for a run
    that was asked for at that time, one that opens it to everybody who has it; both are
    empty if there is no page. `overrides` hold for every run. `live` publishes messages
    while a run works.
    """

    settings: Settings
    clock: Clock
    code_host: CodeHost
    channel: ChannelRouter
    chat: ChatServices
    mirrors: MirrorCache
    sandboxes: RuntimeFactory
    find_models: Callable[[str], Models]
    agent_configuration: AgentConfiguration
    open_mcp: Callable[[Settings, Runtime], McpServers]
    find_known: FindKnownSecrets
    find_page: Callable[[JobId], str]
    find_link: Callable[[JobId, datetime], str]
    directory: ServiceDirectory
    overrides: RunOverrides = field(default_factory=RunOverrides)
    live: LivePublisher = NO_PUBLISHER

    @property
    def sources(self) -> Sources:
        return Sources(self.channel, self.code_host.forge, self.mirrors)

    @property
    def policy(self) -> AdmissionPolicy:
        forge = self.directory.forge
        return service_policy(self.settings, forge.name, forge.forms)
