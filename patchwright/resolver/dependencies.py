"""What a run works with; composed once, at the edge."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import SecretStr

from patchwright.core.agent.agents import Agent, coder
from patchwright.core.agent.budget import Budget
from patchwright.core.agent.run_log import (
    ReleaseSignal,
    SteeringFilter,
    ignore_steering,
)
from patchwright.core.condense.condenser import Condenser
from patchwright.core.events.log import EventLog
from patchwright.core.knowledge.search import KnowledgeLibrary, NoKnowledgeLibrary
from patchwright.core.llm.model import Image, Models
from patchwright.core.mcp import McpServers, NoMcpServers
from patchwright.core.runtime import Runtime, RuntimeFactory, SandboxSpec
from patchwright.core.security.analyzer import Analyzer, ConfirmPolicy
from patchwright.core.settings.repository import CONFIG_FILE, PROTECTED_PATHS
from patchwright.core.system.clock import Clock
from patchwright.core.types.work import Limits, Task
from patchwright.integrations.git.commits import Signature
from patchwright.integrations.git.objects import ObjectStore
from patchwright.resolver.guards.leaks import (
    FindKnownSecrets,
    PrivateWords,
    find_no_secrets,
)
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
    hear: SteeringFilter = ignore_steering
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
