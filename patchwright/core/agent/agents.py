"""The agents there are: what each is told, and which tools it has."""

from dataclasses import dataclass
from typing import Any, Final

from patchwright.core.agent.prompts import prompt
from patchwright.core.agent.tools import DELEGATE, ENDING, RECALL, WORKING, Tool
from patchwright.core.plugins import AGENTS, find_maker

CODER: Final = "coder"


@dataclass(frozen=True)
class Agent:
    """A way of working: the system text, and the tools beside those of MCP servers.

    `delegate_system` is what its delegates are told.
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
        return (*self.tools, *more, *delegating, *ENDING)


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
