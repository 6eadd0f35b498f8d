"""A run of the Action that has ended, with all that is known of it."""

from dataclasses import dataclass

from patchwright.core.types.work import Outcome, OutcomeKind, explained
from patchwright.resolver.messages.status import Delivered
from patchwright.workers.action.inputs import Inputs
from patchwright.workers.action.place import Place
from patchwright.workers.process import Base
from patchwright.workers.run.plan import ARTIFACT, Plan
from patchwright.workers.run.receipts import delivered_by
from patchwright.workers.store.effects import EffectState
from patchwright.workers.store.job import Job


@dataclass(frozen=True)
class End:
    """A run that has ended, with all that is known of it."""

    base: Base
    workflow_job: Place
    inputs: Inputs
    job: Job
    outcome: Outcome
    plan: Plan
    delivered: Delivered
    pending: tuple[str, ...]

    @property
    def is_rehearsal(self) -> bool:
        """Whether nothing of it was written outside."""
        return self.inputs.is_true("dry-run")


def read_end(base: Base, workflow_job: Place, inputs: Inputs, job: Job) -> End:
    """Read from the tables how the run ended, and what of it is not delivered yet."""
    kept = base.stores.outcomes.load_artifact(job.id, ARTIFACT)
    stored = base.stores.effects.of_job(job.id)
    lost = explained(OutcomeKind.FAILED, "no-outcome", "The run has no end.")
    return End(
        base=base,
        workflow_job=workflow_job,
        inputs=inputs,
        job=job,
        outcome=job.outcome or lost,
        # Whatever ends a run keeps its plan in the same transaction.
        plan=Plan.model_validate_json(kept or b"{}"),
        delivered=delivered_by(stored),
        pending=tuple(
            f"{one.effect.kind}: {one.error or 'not tried yet'}"
            for one in stored
            if one.state is EffectState.PENDING
        ),
    )
