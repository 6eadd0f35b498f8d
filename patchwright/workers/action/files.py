"""The files that a run leaves for those who look into it later."""

import json
from pathlib import Path
from typing import Any

import structlog

from patchwright.core.errors import PatchwrightError
from patchwright.core.events.transfer import export_log
from patchwright.core.types.work import Outcome
from patchwright.integrations.git.mirror import MirrorCache
from patchwright.resolver.delivering.naming import as_delivered
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.workers.connections import trust_for_git
from patchwright.workers.process import ServiceParts
from patchwright.workers.run.plan import RunPlan
from patchwright.workers.store.job import Job
from patchwright.workers.store.outcomes import COMMITS

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
    shown = as_delivered(outcome, delivered).evidence
    if not shown:
        return None
    found = [one.model_dump(mode="json") for one in shown]
    path = folder / "evidence.json"
    return write_json(path, {"proof": outcome.proof, "evidence": found}, base)


def write_patch(base: ServiceParts, job: Job, plan: RunPlan, folder: Path) -> Path | None:
    """Write the commits as mails for `git am`, byte for byte.

    One that holds a secret of ours is left out: it cannot be written without it.
    """
    outcome, packed = job.outcome, base.stores.outcomes.load_artifact(job.id, COMMITS)
    if outcome is None or packed is None or not plan.repository or not plan.target:
        return None
    github, settings = base.github, base.settings
    mirrors = MirrorCache(settings.state_dir / "mirrors", trust_for_git(settings.github))
    try:
        mirror = mirrors.fetch(
            plan.repository.clone_url,
            github.forge.mint_credential(plan.repository.ref),
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
