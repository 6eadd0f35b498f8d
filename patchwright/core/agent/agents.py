"""The agents, what each works with, and what a delegate gets from its parent."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any, Final

from patchwright.core.agent.budget import Budget, DelegateBudget
from patchwright.core.agent.endings import AgentEnding
from patchwright.core.agent.prompts import prompt
from patchwright.core.agent.results import FinishReview, FinishTry, ResultSchema
from patchwright.core.agent.run_log import ReleaseSignal
from patchwright.core.agent.tools import ASK, DELEGATE, ENDING, RECALL, WORKING, Tool
from patchwright.core.condense.condenser import Condenser
from patchwright.core.events.actions import Delegate
from patchwright.core.events.state import RunState
from patchwright.core.knowledge.search import KnowledgeLibrary, NoKnowledgeLibrary
from patchwright.core.llm.model import Image, Models
from patchwright.core.mcp import McpServers, NoMcpServers
from patchwright.core.runtime import Runtime
from patchwright.core.security.analyzer import Analyzer, ConfirmPolicy
from patchwright.core.system.clock import Clock
from patchwright.core.system.entry_points import AGENTS, find_maker
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Limits

CODER: Final = "coder"


@dataclass(frozen=True)
class Agent:
    """An agent: its system text, and its tools beside those of MCP servers.

    `delegate_system` is the system text of its delegates.
    """

    name: str
    system: str
    delegate_system: str
    tools: tuple[Tool[Any], ...]

    def tools_at(
        self, depth: int, max_depth: int, *, recalls: bool
    ) -> tuple[Tool[Any], ...]:
        """Return the tools of an agent so many delegations down."""
        more = (RECALL,) if recalls else ()
        delegating = (DELEGATE,) if depth < max_depth else ()
        asking = () if depth else (ASK,)
        return (*self.tools, *more, *delegating, *asking, *ENDING)


def coder() -> Agent:
    """Return the agent that resolves issues unattended."""
    return Agent(
        name=CODER,
        system=prompt("system"),
        delegate_system=prompt("delegate"),
        tools=WORKING,
    )


def find_agent(name: str) -> Agent:
    """Return the agent of this name; a plug-in's is called without arguments."""
    return find_maker(AGENTS, name, {CODER: coder}, setting="agent.name")()


def do_nothing() -> None:
    """Do nothing after a step."""


def allow_finish(attempt: FinishTry) -> None:
    """Have nothing to say about how the agent finishes."""
    del attempt


@dataclass(frozen=True)
class AgentDependencies:
    """The collaborators of an agent, and the bounds it keeps.

    `images` are those that the task names; they are shown with it, and are not in the
    log. `after_step` is called between steps, when nothing is under way. With a
    `result_schema` the run's own agent must return JSON that fits it when it finishes.
    `review_finish` says why a finish does not count yet, if it does not.
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
    review_finish: FinishReview = allow_finish
    result_schema: ResultSchema | None = None


@dataclass(frozen=True)
class DelegateBounds:
    """How deep an agent is, and at which number of steps of the run it must end."""

    depth: int = 0
    last_iteration: int | None = None

    def forbid(self, run: RunState) -> AgentEnding | None:
        if self.last_iteration is None or run.iterations < self.last_iteration:
            return None
        text = "The delegate has made all the steps it was allowed."
        return AgentEnding(OutcomeKind.OVER_LIMIT, "iterations", text, by_service=True)


def delegate_bounds(
    action: Delegate, parent: DelegateBounds, run: RunState, done: RunState
) -> DelegateBounds:
    """Return the bounds of a delegate, of which `done` is known to be done.

    An earlier worker may have done it. Steps are counted for the whole run.
    """
    limits = [] if parent.last_iteration is None else [parent.last_iteration]
    if action.max_iterations is not None:
        begun_at = run.iterations - done.iterations
        limits.append(begun_at + action.max_iterations)
    return DelegateBounds(
        depth=parent.depth + 1, last_iteration=min(limits) if limits else None
    )


def delegate_dependencies(
    dependencies: AgentDependencies, action: Delegate, done: RunState
) -> AgentDependencies:
    """Return the dependencies with the delegate's own budget, if it has a limit."""
    if action.max_cost_usd is None:
        return dependencies
    spent_usd = done.usage.cost_usd or 0.0
    run_budget = DelegateBudget(dependencies.run_budget, action.max_cost_usd, spent_usd)
    return replace(dependencies, run_budget=run_budget)
