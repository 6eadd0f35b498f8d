"""The receipt of a run: what was decided, run and paid. Nothing signs it yet."""

import hashlib
import json
from collections.abc import Mapping
from typing import Final

from pydantic import JsonValue

from patchwright.core.events.metrics import RunMetrics
from patchwright.workers.action.end import EndedRun
from patchwright.workers.action.inputs import Inputs
from patchwright.workers.action.own_version import own_version
from patchwright.workers.store.job import Job

_SECRET_INPUTS: Final = frozenset({"github-token", "mcp-config"})


def receipt_of(
    end: EndedRun, metrics: RunMetrics, outputs: Mapping[str, str]
) -> dict[str, JsonValue]:
    outcome, llm = end.outcome, end.base.settings.llm
    commands = [
        one.model_dump(mode="json", exclude={"tail"}) for one in outcome.evidence
    ]
    return {
        "signed": False,
        "version": own_version(),
        "run": end.job.id,
        "inputs_sha256": _digest(end.inputs),
        "asked": {**_request_facts(end.job), "admitted": end.plan.admitted},
        "outcome": outputs["outcome"],
        "reason": outputs["error-code"],
        "proof": outcome.proof,
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
    told = {k: v for k, v in inputs.values.items() if k not in _SECRET_INPUTS}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
