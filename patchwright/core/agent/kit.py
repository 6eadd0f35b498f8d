"""What an agent works with."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field

from patchwright.core.agent.agents import Agent
from patchwright.core.agent.attention import ReleaseSignal
from patchwright.core.agent.purse import Budget
from patchwright.core.agent.result_schema import ResultSchema
from patchwright.core.clock import Clock
from patchwright.core.condense.condenser import Condenser
from patchwright.core.events.types import Finish
from patchwright.core.knowledge.library import KnowledgeLibrary, NoKnowledgeLibrary
from patchwright.core.llm.model import Image
from patchwright.core.llm.models import Models
from patchwright.core.mcp.servers import McpServers, NoMcpServers
from patchwright.core.runtime import Runtime
from patchwright.core.security.analyzer import Analyzer
from patchwright.core.security.policy import ConfirmPolicy
from patchwright.core.types.work import Limits


def do_nothing() -> None:
    """Do nothing after a step."""


def allow_finish(finish: Finish) -> str:
    """Have nothing to say about how the agent finishes."""
    del finish
    return ""


@dataclass(frozen=True)
class AgentDependencies:
    """The collaborators of an agent, and the bounds it keeps.

    `images` are those that the task names; they are shown with it, and are not in the
    log. `after_step` is called between steps, when nothing is under way. With a
    `result_schema` the run's own agent hands over what fits it when it finishes.
    `before_finish` returns what the agent is to hear then, once, before that counts.
    """

    agent: Agent
    models: Models
    runtime: Runtime
    condenser: Condenser
    analyzer: Analyzer
    limits: Limits
    run_budget: Budget
    clock: Clock
    confirm: ConfirmPolicy = "never"
    mcp: McpServers = field(default_factory=NoMcpServers)
    library: KnowledgeLibrary = field(default_factory=NoKnowledgeLibrary)
    max_delegate_depth: int = 0
    images: Mapping[str, Image] = field(default_factory=dict)
    release_signal: ReleaseSignal = field(default_factory=Future)
    after_step: Callable[[], None] = do_nothing
    before_finish: Callable[[Finish], str] = allow_finish
    result_schema: ResultSchema | None = None
