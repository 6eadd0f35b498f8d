"""A run of the Action that has ended, with all that is known of it."""

from dataclasses import dataclass

from patchwright.core.types.work import Outcome, OutcomeKind, service_outcome
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.workers.action.inputs import Inputs
from patchwright.workers.action.place import WorkflowJob
from patchwright.workers.process import ServiceParts
from patchwright.workers.run.plan import PLAN_ARTIFACT, RunPlan
from patchwright.workers.run.receipts import delivery_results_of
from patchwright.workers.store.effects import EffectState
from patchwright.workers.store.job import Job


@dataclass(frozen=True)
class EndedRun:
    """A run that has ended, with all that is known of it."""

    base: ServiceParts
    workflow_job: WorkflowJob
    inputs: Inputs
    job: Job
    outcome: Outcome
    plan: RunPlan
    delivered: DeliveryResult
    pending: tuple[str, ...]

    @property
    def is_dry_run(self) -> bool:
        """Whether nothing of it was written outside."""
        return self.inputs.is_true("dry-run")


def read_ended_run(base: ServiceParts, workflow_job: WorkflowJob, inputs: Inputs, job: Job) -> EndedRun:
    """Read from the tables how the run ended, and what of it is not delivered yet."""
    kept = base.stores.outcomes.load_artifact(job.id, PLAN_ARTIFACT)
    stored = base.stores.effects.of_job(job.id)
    lost = service_outcome(OutcomeKind.FAILED, "no-outcome", "The run has no end.")
    return EndedRun(
        base=base,
        workflow_job=workflow_job,
        inputs=inputs,
        job=job,
        outcome=job.outcome or lost,
        # Whatever ends a run keeps its plan in the same transaction.
        plan=RunPlan.model_validate_json(kept or b"{}"),
        delivered=delivery_results_of(stored),
        pending=tuple(
            f"{one.effect.kind}: {one.error or 'not tried yet'}"
            for one in stored
            if one.state is EffectState.PENDING
        ),
    )
