"""A run in a CI that has ended, and the files and the receipt that it leaves."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import structlog
from pydantic import JsonValue

from patchwright.core.ci.inputs import Inputs
from patchwright.core.ci.system import CiJob, JobRequests
from patchwright.core.events.jsonl import export_log
from patchwright.core.events.state import RunMetrics
from patchwright.core.types.errors import PatchwrightError
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Outcome, service_outcome
from patchwright.integrations.git.mirror import MirrorCache
from patchwright.resolver.job import Job
from patchwright.resolver.messages.proof_json import (
    evidence_as_json,
    outcome_proof_as_json,
    verdict_as_json,
)
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.resolver.publish.publisher import as_delivered
from patchwright.resolver.run_plan import PLAN_ARTIFACT, RunPlan
from patchwright.resolver.run_store import COMMITS
from patchwright.workers.compose import ServiceParts
from patchwright.workers.store.effects import EffectState
from patchwright.workers.store.run_store import delivery_results_of


@dataclass(frozen=True)
class EndedRun:
    """A run that has ended, with all that is known of it."""

    base: ServiceParts
    ci_job: CiJob
    requests: JobRequests
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


def read_ended_run(
    base: ServiceParts, ci_job: CiJob, requests: JobRequests, inputs: Inputs, job: Job
) -> EndedRun:
    """Read from the tables how the run ended, and what of it is not delivered yet."""
    kept = base.stores.outcomes.load_artifact(job.id, PLAN_ARTIFACT)
    stored = base.stores.effects.of_job(job.id)
    lost = service_outcome(OutcomeKind.FAILED, "no-outcome", "The run has no end.")
    return EndedRun(
        base=base,
        ci_job=ci_job,
        requests=requests,
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


log = structlog.get_logger(__name__)


def write_trajectory(base: ServiceParts, job: Job, folder: Path) -> Path:
    """Write all events, as they are stored: without secrets."""
    path = folder / "trajectory.jsonl"
    with path.open("w", encoding="utf-8") as file:
        export_log(base.stores.events.open(job.conversation_id), file)
    return path


def write_evidence(
    base: ServiceParts, outcome: Outcome, delivered: DeliveryResult, folder: Path
) -> Path | None:
    """Write the level, its tables and what was run; nothing where nothing was."""
    shown = as_delivered(outcome, delivered)
    if not shown.evidence:
        return None
    path = folder / "evidence.json"
    return write_json(path, outcome_proof_as_json(shown), base)


def write_patch(
    base: ServiceParts, job: Job, plan: RunPlan, folder: Path
) -> Path | None:
    """Write the commits as mails for `git am`, byte for byte.

    One that holds a secret of ours is left out: it cannot be written without it.
    """
    outcome, packed = job.outcome, base.stores.outcomes.load_artifact(job.id, COMMITS)
    if outcome is None or packed is None or not plan.repository or not plan.target:
        return None
    mirrors = MirrorCache(
        base.settings.state_dir / "mirrors", base.forge.git_environment
    )
    try:
        mirror = mirrors.fetch(
            plan.repository.clone_url,
            base.forge.forge.mint_credential(plan.repository.ref),
            [plan.target.trusted_ref],
        )
        mirror.objects.take(packed, outcome.base_sha, job.id)
        patch = mirror.objects.format_patch(outcome.base_sha, outcome.head_sha)
        mirror.objects.release(job.id)
    except PatchwrightError as error:
        log.warning("patch_not_written", reason=error.reason, error=str(error))
        return None
    if any(base.redactor.find_known(patch.decode("utf-8", "replace"))):
        log.warning("patch_not_written", reason="holds-a-secret")
        return None
    path = folder / "change.patch"
    path.write_bytes(patch)
    return path


def write_json(path: Path, value: Any, base: ServiceParts) -> Path:  # noqa: ANN401 - JSON
    clean = base.redactor.redact_json(json.loads(json.dumps(value)))
    path.write_text(f"{json.dumps(clean, indent=2, ensure_ascii=False)}\n", "utf-8")
    return path


# Servers of tools are told their secrets.
_MCP_INPUT: Final = "mcp-config"


def receipt_of(
    end: EndedRun, metrics: RunMetrics, outputs: Mapping[str, str]
) -> dict[str, JsonValue]:
    llm = end.base.settings.llm
    outcome = as_delivered(end.outcome, end.delivered)
    commands = [evidence_as_json(one, has_tail=False) for one in outcome.evidence]
    has_change = outcome.proposes_change
    return {
        "signed": False,
        "version": version("patchwright"),
        "run": end.job.id,
        "inputs_sha256": _digest(end.inputs),
        "asked": {**_request_facts(end.job), "admitted": end.plan.admitted},
        "outcome": outputs["outcome"],
        "reason": outputs["error-code"],
        "proof": outcome.proof,
        "verdict": verdict_as_json(outcome.proof, outcome.proof_report)
        if has_change
        else None,
        "models": {
            model: total.usage.model_dump(mode="json")
            for model, total in metrics.by_model.items()
        },
        "prices_usd_per_token": {
            "input": llm.input_cost_per_token,
            "output": llm.output_cost_per_token,
        },
        "cost_usd": outcome.usage.cost_usd,
        "commands": list(commands),
        "base_sha": outputs["base-sha"],
        "head_sha": outputs["head-sha"],
        "pull_request": outputs["pr-url"],
    }


def _request_facts(job: Job) -> dict[str, JsonValue]:
    trigger = job.trigger
    return {
        "thread": str(trigger.thread),
        "by": trigger.actor.login,
        "with": [one.login for one in trigger.others],
        "how": trigger.kind,
    }


def _digest(inputs: Inputs) -> str:
    """Name the inputs by a digest, those left out that may hold a secret."""
    hidden = {*inputs.secrets, _MCP_INPUT}
    shown = {k: v for k, v in inputs.values.items() if k not in hidden}
    return hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()
