"""What the steps of a run and its agent work with."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Protocol

from pydantic import SecretStr

from patchwright.core.agent.agents import Agent, coder
from patchwright.core.agent.budget import Budget
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
from patchwright.resolver.preparation import Sources
from patchwright.resolver.publish.destination import Invitation
from patchwright.resolver.publish.live import NO_PUBLISHER, LivePublisher
from patchwright.resolver.repository_references import ReferenceScope
from patchwright.resolver.run_store import Choices
from patchwright.resolver.sandboxes import SetUp


@dataclass(frozen=True)
class AgentConfiguration:
    """How the agent works: the same for all the runs of a process."""

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
    """Return nothing: where all words are public, none can be repeated in vain."""
    return None


@dataclass(frozen=True)
class RunDependencies:
    """The collaborators of one run. `author` signs its commits.

    `open_mcp` starts the servers of a sandbox. `release_signal` is done when this
    process must let go of the run, for another to take it up. Without `checkpoints`
    nobody will. `protected_paths` are those that the repository keeps for people, which
    it says in its file `config_file`, and `find_known` finds the secrets that are known
    by value. With a `signing_key` the commits are signed by it. `images` belong to the
    task, by the names it gives them. With `reports_left_out` the agent hears once what
    its change would lack. `redact_private` takes out of a text what its readers must
    not see, `redact_private_title` out of a title. `find_private_words` says what no
    file may repeat, if there is something.
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
    reports_left_out: bool = True
    redact_private: Callable[[str], str] = unchanged_text
    redact_private_title: Callable[[str], str] = unchanged_text
    find_private_words: Callable[[], PrivateWords | None] = no_private_words


def set_up_of_task(task: Task, dependencies: RunDependencies) -> SetUp:
    return SetUp(task.setup, task.setup_may_fail, dependencies.config_file)


WORK_AT_SERVICE: Final = (
    "Whoever runs the service gets it with `patchwright runs bundle {run}`."
)


@dataclass(frozen=True)
class RunOverrides:
    """What whoever runs Patchwright sets above what a repository sets for itself.

    `config` are values for fields of `RepositoryConfig`, by name, and `defaults` those
    that count where the repository sets nothing; `config_file` is its own file. In a
    dry run nothing is written to any service, and what would be written is kept.
    `schema` is a JSON schema, as text, for what the agent returns besides its words.
    Without `waits_for_people` a run that has a question ends with it. Without
    `looks_for_competitors` a run goes on where others have an open pull request for the
    same issue. `answer` is how a request ends at once, where that is known already.
    `work_at` says where a change is that is on no branch; `{run}` stands for the short
    id of its run.
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

    def applied_to(self, config: RepositoryConfig) -> RepositoryConfig:
        """Return what a repository says with the orders on top of it."""
        said = config.model_fields_set
        defaults = {k: v for k, v in self.defaults.items() if k not in said}
        return config.replace(**defaults).replace(**self.config)


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
    choices: Choices


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


def code_host_of(connection: ForgeConnection) -> CodeHost:
    return CodeHost(
        forge=connection.forge,
        reviews=connection.reviews,
        fetch_identity=connection.fetch_identity,
        starts_no_checks=connection.starts_no_checks,
    )


@dataclass(frozen=True, kw_only=True)
class StepServices:
    """The collaborators of every step.

    `find_models` returns those of a run whose main one has that name. `open_mcp` starts
    the servers of a sandbox. `find_known` finds the service's own secrets in a text.
    `find_page` returns the address of a run's page, empty where there is none.
    `overrides` hold for every run. `live` is how one run shows what it shows while it
    works.
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
    find_page: Callable[[JobId, datetime], str]
    directory: ServiceDirectory
    overrides: RunOverrides = field(default_factory=RunOverrides)
    live: LivePublisher = NO_PUBLISHER

    @property
    def sources(self) -> Sources:
        return Sources(self.channel, self.code_host.forge, self.mirrors)

    @property
    def policy(self) -> AdmissionPolicy:
        return service_policy(self.settings, self.directory.forge.name)
