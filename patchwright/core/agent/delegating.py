"""Bound a delegate by what its parent has left."""

from dataclasses import dataclass, replace

from patchwright.core.agent.endings import AgentEnding
from patchwright.core.agent.kit import AgentDependencies
from patchwright.core.agent.purse import DelegateBudget
from patchwright.core.events.state import RunState
from patchwright.core.events.types import Delegate
from patchwright.core.types.work import OutcomeKind


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


def delegate_dependencies(dependencies: AgentDependencies, action: Delegate, done: RunState) -> AgentDependencies:
    """Return the kit with a purse of the delegate's own, if it is bounded."""
    if action.max_cost_usd is None:
        return dependencies
    spent_usd = done.usage.cost_usd or 0.0
    run_budget = DelegateBudget(dependencies.run_budget, action.max_cost_usd, spent_usd)
    return replace(dependencies, run_budget=run_budget)
