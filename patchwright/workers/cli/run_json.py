"""Runs as JSON, for scripts."""

import json
from collections.abc import Sequence

from patchwright.core.trajectory.story import Story
from patchwright.core.types.work import Outcome
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.workers.runs.listed import RunRow


def runs_as_json(runs: Sequence[RunRow]) -> str:
    return json.dumps({"runs": [one.model_dump(mode="json") for one in runs]})


def run_as_json(
    run: RunRow, story: Story, outcome: Outcome | None, delivered: DeliveryResult
) -> str:
    """Write what the run is and where its result is, then its steps."""
    return json.dumps(
        {
            "run": run.model_dump(mode="json"),
            "summary": outcome.summary if outcome else "",
            "evidence": [one.model_dump(mode="json") for one in outcome.evidence]
            if outcome
            else [],
            "left_out": [one.model_dump(mode="json") for one in outcome.left_out]
            if outcome
            else [],
            "branch": delivered.branch or None,
            "pr_url": delivered.pull_request_url or None,
            "refusal": delivered.refusal,
            "steps": [one.model_dump(mode="json") for one in story.steps],
            "remarks": [one.model_dump(mode="json") for one in story.remarks],
            "metrics": story.metrics.model_dump(mode="json"),
        }
    )
