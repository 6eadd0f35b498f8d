"""What an attempt at a job leaves."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from patchwright.core.types.ids import JobId
from patchwright.core.types.work import Outcome
from patchwright.resolver.delivering.destination import CrossPostTarget
from patchwright.resolver.effects import Effect
from patchwright.resolver.messages.status import Progress
from patchwright.workers.run.plan import RunPlan


@dataclass(frozen=True)
class AttemptResult:
    """How it ended, and what to keep of it.

    `quiet` means that nobody is told more than a reaction. `effects` are there in place
    of those that usually follow.
    """

    outcome: Outcome
    plan: RunPlan
    read_up_to: int
    artifacts: Mapping[str, bytes] = field(default_factory=dict)
    quiet: bool = False
    effects: tuple[Effect, ...] | None = None

    def with_last(self, progress: Progress, mirrors: tuple[CrossPostTarget, ...]) -> "Done":
        """Return it with how far the run was when it ended, and who else is told."""
        return replace(self, plan=self.plan.replace(last=progress, mirrors=mirrors))

    def read(self, up_to: int) -> "Done":
        """Return it with all until that event read, if no more was."""
        return replace(self, read_up_to=max(self.read_up_to, up_to))


@dataclass(frozen=True)
class MovedResult:
    """The request belongs to another conversation: `job_id` is to be submitted."""

    job_id: JobId
