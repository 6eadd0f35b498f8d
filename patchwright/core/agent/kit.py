"""What an agent works with."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field

from patchwright.core.agent.agents import Agent
from patchwright.core.agent.attention import GivenBack
from patchwright.core.agent.purse import Purse
from patchwright.core.agent.result_schema import ResultSchema
from patchwright.core.clock import Clock
from patchwright.core.condense.condenser import Condenser
from patchwright.core.events.types import Finish
from patchwright.core.knowledge.library import Library, NoLibrary
from patchwright.core.llm.model import Image
from patchwright.core.llm.models import Models
from patchwright.core.mcp.servers import McpServers, NoMcpServers
from patchwright.core.runtime import Runtime
from patchwright.core.security.analyzer import Analyzer
from patchwright.core.security.policy import Policy
from patchwright.core.types.work import Limits


def do_nothing() -> None:
    """Do nothing after a step."""


def let_finish(finish: Finish) -> str:
    """Have nothing to say about how the agent finishes."""
    del finish
    return ""


@dataclass(frozen=True)
class AgentKit:
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
    purse: Purse
    clock: Clock
    confirm: Policy = "never"
    mcp: McpServers = field(default_factory=NoMcpServers)
    library: Library = field(default_factory=NoLibrary)
    max_delegate_depth: int = 0
    images: Mapping[str, Image] = field(default_factory=dict)
    given_back: GivenBack = field(default_factory=Future)
    after_step: Callable[[], None] = do_nothing
    before_finish: Callable[[Finish], str] = let_finish
    result_schema: ResultSchema | None = None
