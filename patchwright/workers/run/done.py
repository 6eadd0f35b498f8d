"""What an attempt at a job leaves."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from patchwright.core.types.work import Outcome
from patchwright.workers.run.plan import Plan

COMMITS: Final = "commits"


@dataclass(frozen=True)
class Done:
    """How it ended, and what to keep of it.

    `quiet` means that nobody is told more than a reaction.
    """

    outcome: Outcome
    plan: Plan
    read_up_to: int
    artifacts: Mapping[str, bytes] = field(default_factory=dict)
    quiet: bool = False
