"""A recorded run as one JSON object, for scripts."""

import json

from patchwright.core.trajectory.files import StoredRun
from patchwright.core.trajectory.story import Step, Story


def story_as_json(story: Story) -> str:
    """Write the folded run: its steps, what happened beside them, and its metrics."""
    return json.dumps(
        {
            "run": story.facts.model_dump(mode="json"),
            "steps": [step.model_dump(mode="json") for step in story.steps],
            "remarks": [remark.model_dump(mode="json") for remark in story.remarks],
            "metrics": story.metrics.model_dump(mode="json"),
            "outcome": story.outcome.model_dump(mode="json") if story.outcome else None,
        }
    )


def step_as_json(step: Step, run: StoredRun) -> str:
    """Write one step with all its events, as they were stored."""
    wanted = events_of_step(step)
    stored = [one for one in run.trajectory.events if one.get("id") in wanted]
    return json.dumps({"step": step.model_dump(mode="json"), "events": stored})


def events_of_step(step: Step) -> frozenset[int]:
    """Return the ids of a step's events."""
    ids = [step.event_id]
    for act in step.acts:
        ids += [one for one in (act.action_id, act.result_id) if one is not None]
    return frozenset(ids)
