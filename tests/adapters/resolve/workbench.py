"""A workbench: a repository with a fault, a scripted model and real sandboxes."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from patchwright.core.agent.analyzers import choose_analyzer
from patchwright.core.agent.budget import RunBudget
from patchwright.core.condense.condensers import choose_condenser
from patchwright.core.events.jsonl import JsonlEventLog
from patchwright.core.events.types import Event
from patchwright.core.llm.model import Models
from patchwright.core.runtime import Runtime, RuntimeFactory, SandboxSpec
from patchwright.core.settings.model import Settings
from patchwright.core.system.clock import SystemClock
from patchwright.core.types.errors import SandboxError
from patchwright.core.types.work import Limits, Outcome, Task
from patchwright.integrations.git.commits import Signature
from patchwright.resolver.resolve import resolve
from patchwright.resolver.services import AgentConfiguration, RunDependencies
from patchwright.sandbox.factory import create_factory
from patchwright.workers.agent_configuration import make_models
from tests.adapters.git.workshop import WorkTree
from tests.fakes.scripted_model import ScriptedModel, Step, reply

CART = b"def total(prices, pieces):\n    return sum(prices)\n"
TEST = """import unittest

from cart import total


class PiecesTest(unittest.TestCase):
    def test_every_piece_counts(self):
        self.assertEqual(total([450], [3]), 1350)
"""
CONDUCT = AgentConfiguration(
    condenser=choose_condenser(["none"]), analyzer=choose_analyzer(["rules", "model"])
)
RUN_TEST = "python3 -m unittest test_pieces"
EDIT: JsonValue = {
    "old": "sum(prices)",
    "new": "sum(p * n for p, n in zip(prices, pieces))",
}
WRITE_TEST = reply(calls=[("write", {"path": "test_pieces.py", "content": TEST})])
FIX = reply(
    calls=[
        (
            "edit",
            {
                "path": "cart.py",
                "edits": [EDIT],
            },
        )
    ]
)


# What is called in each reply of a good model.
Named = tuple[str, dict[str, JsonValue]]
CART_STEPS: tuple[tuple[Named, ...], ...] = (
    (
        ("write", {"path": "test_pieces.py", "content": TEST}),
        ("shell", {"command": RUN_TEST}),
    ),
    (
        ("edit", {"path": "cart.py", "edits": [EDIT]}),
        ("shell", {"command": RUN_TEST}),
    ),
    (
        (
            "finish",
            {
                "summary": "The pieces were ignored.",
                "title": "Count every piece",
                "test_commands": [RUN_TEST],
            },
        ),
    ),
)


def finish(*test_commands: str, **fields: str) -> Step:
    said = {"summary": "The pieces were ignored.", "title": "Count every piece"}
    commands: list[JsonValue] = [*test_commands]
    arguments: dict[str, JsonValue] = {**said, **fields, "test_commands": commands}
    return reply(calls=[("finish", arguments)])


@dataclass(frozen=True)
class Run:
    """What a run left."""

    outcome: Outcome
    events: list[Event]
    repository: WorkTree
    model: ScriptedModel

    def show(self, path: str) -> str:
        """Return a file as the proposed commit has it."""
        return self.repository.git("show", f"{self.outcome.head_sha}:{path}")

    def changed(self) -> list[str]:
        commits = (self.outcome.base_sha, self.outcome.head_sha)
        return self.repository.git("diff", "--name-only", *commits).splitlines()


@dataclass(frozen=True)
class Bench:
    """One task, and everything that a run of it works with."""

    dependencies: RunDependencies
    task: Task
    repository: WorkTree

    def resolve(self) -> Outcome:
        return resolve(self.task, self.dependencies).outcome

    def at(self, base_sha: str) -> Task:
        """Return the task as it starts from another commit."""
        return self.task.replace(base_sha=base_sha)

    def events(self, *kinds: str) -> list[Event]:
        return list(
            self.dependencies.log.read(kinds=frozenset(kinds) if kinds else None)
        )

    def show(self, outcome: Outcome, path: str) -> str:
        """Return a file as the commit of an outcome has it."""
        return self.repository.git("show", f"{outcome.head_sha}:{path}")


@contextmanager
def bench(
    folder: Path,
    models: Models,
    *,
    files: Mapping[str, str] | None = None,
    **dependencies: Any,
) -> Iterator[Bench]:
    """Set a task in a fresh repository; `dependencies` are `RunDependencies` fields."""
    repository = WorkTree.start(folder / "repository")
    repository.write("cart.py", CART)
    base_sha = repository.commit()
    clock = SystemClock()
    with JsonlEventLog(folder / "events.jsonl", lambda tree: tree, clock) as log:
        usual = RunDependencies(
            run_id="run-1",
            models=models,
            sandboxes=create_factory("bubblewrap", clock),
            spec=SandboxSpec(run_id="run-1"),
            code=repository.objects,
            log=log,
            limits=Limits(),
            run_budget=RunBudget(3.0, refuse_unknown=False),
            clock=clock,
            author=Signature("Patchwright", "bot@example.test"),
            agent_configuration=CONDUCT,
        )
        task = Task(
            text="Fix the sum.",
            base_sha=base_sha,
            base_branch="trunk",
            files=dict(files or {}),
            notes=("A note.",),
            message_trailer="Co-authored-by: alice <alice@example.test>",
        )
        yield Bench(replace(usual, **dependencies), task, repository)


def models_at(folder: Path, llm: Mapping[str, object], **more: object) -> Models:
    """Return the models that settings name: a provider that speaks HTTP."""
    free = {"input_cost_per_token": 0.0, "output_cost_per_token": 0.0}
    return make_models(
        settings_of(folder, llm={"api_key": "sk-test", **free, **llm}, **more),
        SystemClock(),
    )


def settings_of(folder: Path, **sections: object) -> Settings:
    usual = {"state_dir": folder, "database": {"url": "sqlite://"}}
    return Settings.model_validate({**usual, **sections})


def run(
    folder: Path,
    steps: Iterable[Step],
    *,
    limits: Limits | None = None,
    sandboxes: RuntimeFactory | None = None,
    files: dict[str, str] | None = None,
    **wishes: Any,
) -> Run:
    """Resolve the task by a script, as the command line and workers do.

    `wishes` are fields of the task.
    """
    model = ScriptedModel(steps)
    chosen = {"limits": limits, "sandboxes": sandboxes}
    changes = {name: value for name, value in chosen.items() if value is not None}
    with bench(folder, Models.only(model), files=files, **changes) as scene:
        task = scene.task.replace(**wishes)
        outcome = replace(scene, task=task).resolve()
        return Run(outcome, scene.events(), scene.repository, model)


class NoSandboxes:
    """Where no sandbox can be started."""

    kind = "none"

    def start(self, spec: SandboxSpec) -> Runtime:
        raise SandboxError(f"there is no room for {spec.run_id}")

    def attach(self, spec: SandboxSpec) -> Runtime | None:
        del spec
        return None

    def remove(self, run_id: str) -> int:
        del run_id
        return 0

    def reap(self) -> int:
        return 0
