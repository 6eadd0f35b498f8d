"""Ask the gate of the reusable workflow, as GitHub does for each event."""

from functools import cache

from tests.architecture.tree import ROOT
from tests.runner.expressions.evaluate import Scene
from tests.runner.expressions.values import Value
from tests.runner.workflow import Workflow, read_workflow

MODEL: dict[str, Value] = {"llm-model": "openai/scripted"}


@cache
def workflow() -> Workflow:
    return read_workflow(ROOT / ".github" / "workflows" / "patchwright.yml")


def lets_in(name: str, event: Value, **inputs: str) -> bool:
    """Tell whether a job starts; an input `allow_bots` is `allow-bots`."""
    return workflow().jobs["gate"].starts(_scene(name, event, inputs))


def group_of(needs: Value) -> str:
    scene = Scene({"github": {"run_id": "4711"}, "needs": needs})
    return workflow().jobs["run"].group_in(scene)


def _scene(name: str, event: Value, inputs: dict[str, str]) -> Scene:
    given: dict[str, Value] = {n.replace("_", "-"): v for n, v in inputs.items()}
    return Scene(
        {
            "github": {"event_name": name, "event": event, "run_id": "4711"},
            "inputs": workflow().inputs_from({**MODEL, **given}),
            "needs": {},
        }
    )
