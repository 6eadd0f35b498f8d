"""A set-up is run once for all sandboxes of a run, and for later runs not at all."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest

from patchwright.core.events.observations import SetUpRestored
from patchwright.core.llm.model import Models
from patchwright.core.runtime import Runtime, RuntimeFactory, SandboxSpec
from patchwright.core.system.clock import SystemClock
from patchwright.core.types.work import Outcome
from patchwright.resolver.set_up.cache import SetUpCache
from patchwright.sandbox.factory import create_factory
from tests.adapters.resolve.workbench import (
    FIX,
    RUN_TEST,
    WRITE_TEST,
    bench,
    finish,
)
from tests.fakes.scripted_model import ScriptedModel, Step, reply

# Each run of it leaves a mark of its own: equal marks are one run.
MARK = "python3 -c 'import uuid; print(f\"mark:{uuid.uuid4()}\")'"
INSTALL = f"mkdir -p vendor/tools && {MARK} > vendor/tools/mark && cat lock.txt"
NEEDS_IT = f"cat vendor/tools/mark && {RUN_TEST}"
STEPS = (WRITE_TEST, FIX, finish(NEEDS_IT))


class Counted:
    """Sandboxes, and how many of them were started."""

    def __init__(self, sandboxes: RuntimeFactory) -> None:
        self.kind, self.attach = sandboxes.kind, sandboxes.attach
        self.remove, self.reap = sandboxes.remove, sandboxes.reap
        self._sandboxes = sandboxes
        self.started = 0

    def start(self, spec: SandboxSpec) -> Runtime:
        self.started += 1
        return self._sandboxes.start(spec)


@dataclass
class Office:
    """Runs for one repository on one machine, one after the other."""

    folder: Path
    cache: SetUpCache
    sandboxes: RuntimeFactory
    outcomes: list[Outcome] = field(default_factory=list)

    def run(
        self,
        *steps: Step,
        setup: tuple[str, ...] = (INSTALL,),
        files: dict[str, str] | None = None,
    ) -> "Told":
        number = len(self.outcomes)
        model = ScriptedModel(list(steps or STEPS))
        counted = Counted(self.sandboxes)
        with bench(
            self.folder / f"run-{number}",
            Models.only(model),
            sandboxes=counted,
            set_up_cache=self.cache,
            repository="shop",
        ) as scene:
            for path, text in {"lock.txt": "1", ".gitignore": "vendor/\n"}.items():
                scene.repository.write(path, (files or {}).get(path, text).encode())
            base_sha = scene.repository.commit()
            task = scene.at(base_sha).replace(setup=setup, trusted_sha=base_sha)
            spec = scene.dependencies.spec.replace(run_id=f"run-{number}")
            dependencies = replace(
                scene.dependencies, run_id=f"run-{number}", spec=spec
            )
            outcome = replace(scene, task=task, dependencies=dependencies).resolve()
            self.outcomes.append(outcome)
            restored = [
                one.payload
                for one in scene.events("set_up_restored")
                if isinstance(one.payload, SetUpRestored)
            ]
            ran = [
                one
                for one in scene.events("run_command")
                if one.payload.agent == "setup"
            ]
        return Told(outcome, restored, len(ran), counted.started)


@dataclass(frozen=True)
class Told:
    """What a run left: where its sandboxes came from, and how it ended."""

    outcome: Outcome
    restored: list[SetUpRestored]
    commands: int
    sandboxes: int

    def marks(self) -> set[str]:
        """Return the marks that the proof has seen: one for each run of the set-up."""
        tails = "\n".join(one.tail for one in self.outcome.evidence)
        return set(re.findall("mark:.*", tails))


@contextmanager
def office(folder: Path, kind: str, image: str = "") -> Iterator[Office]:
    clock = SystemClock()
    cache = SetUpCache(
        folder / "cache", clock, max_bytes=1 << 30, max_age=timedelta(days=7)
    )
    yield Office(folder, cache, create_factory(kind, clock, image))


@pytest.fixture(params=["bubblewrap", "docker"])
def any_office(
    request: pytest.FixtureRequest, tmp_path: Path, sandbox_image: str
) -> Iterator[Office]:
    with office(tmp_path, request.param, sandbox_image) as opened:
        yield opened


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Office]:
    with office(tmp_path, "bubblewrap") as opened:
        yield opened


def test_it_runs_once_a_run_and_not_at_all_in_the_next(any_office: Office) -> None:
    first, second = any_office.run(), any_office.run()
    # The work sandbox ran it, and each of the proof's started from what it had made.
    assert (first.commands, second.commands) == (1, 0)
    assert first.sandboxes == second.sandboxes > 2
    assert len(first.restored) == first.sandboxes - 1
    assert len(second.restored) == second.sandboxes
    assert len(first.marks() | second.marks()) == 1


def test_a_change_of_the_lock_file_sets_up_its_own_sandboxes_and_nothing_else(
    shop: Office,
) -> None:
    first = shop.run()
    change = reply(calls=[("write", {"path": "lock.txt", "content": "2"})])
    poison = "echo mark:spoilt > vendor/tools/mark"
    spoil = reply(calls=[("shell", {"command": poison})])
    changed = shop.run(change, spoil, *STEPS)
    # Before the change it is as in the first run, after it it is not.
    [before] = first.marks()
    assert before in changed.marks()
    assert len(changed.marks()) > 1
    assert "mark:spoilt" not in changed.marks()
    assert shop.run().marks() == first.marks()
