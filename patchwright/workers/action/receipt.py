"""The receipt of a run: what was decided, run and paid. Nothing signs it yet."""

import hashlib
import json
from collections.abc import Mapping
from typing import Final

from pydantic import JsonValue

from patchwright.core.events.metrics import Metrics
from patchwright.core.settings.llm import LlmSettings
from patchwright.core.types.base import Value
from patchwright.core.types.work import Outcome
from patchwright.workers.action.inputs import Inputs
from patchwright.workers.action.own_version import own_version
from patchwright.workers.store.job import Job

_SECRET_INPUTS: Final = frozenset({"github-token", "mcp-config"})


class Receipt(Value):
    """What there is to say of a run besides its outputs."""

    job: Job
    outcome: Outcome
    admitted: str
    metrics: Metrics


def receipt_of(
    receipt: Receipt, inputs: Inputs, llm: LlmSettings, outputs: Mapping[str, str]
) -> dict[str, JsonValue]:
    outcome, job = receipt.outcome, receipt.job
    commands = [
        one.model_dump(mode="json", exclude={"tail"}) for one in outcome.evidence
    ]
    return {
        "signed": False,
        "version": own_version(),
        "run": job.id,
        "inputs_sha256": _digest(inputs),
        "asked": {**_asked(job), "admitted": receipt.admitted},
        "outcome": outputs["outcome"],
        "reason": outputs["error-code"],
        "proof": outcome.proof,
        "models": {
            model: total.usage.model_dump(mode="json")
            for model, total in receipt.metrics.by_model.items()
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


def _asked(job: Job) -> dict[str, JsonValue]:
    trigger = job.trigger
    return {
        "thread": str(trigger.thread),
        "by": trigger.actor.login,
        "with": [one.login for one in trigger.others],
        "how": trigger.kind,
    }


def _digest(inputs: Inputs) -> str:
    """Name the inputs by a digest, those left out that may hold a secret."""
    told = {k: v for k, v in inputs.values.items() if k not in _SECRET_INPUTS}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
