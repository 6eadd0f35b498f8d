"""A set-up is run once for all sandboxes of a run, and for later runs not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest

from patchwright.core.events.actions import RunCommand
from patchwright.core.events.observations import SetUpRestored
from patchwright.core.events.types import SandboxAction, SandboxObservation
from patchwright.core.llm.model import Models
from patchwright.core.runtime import (
    Runtime,
    RuntimeFactory,
    SandboxSpec,
    find_large_files,
)
from patchwright.core.system.clock import SystemClock
from patchwright.core.types.work import Outcome
from patchwright.resolver.set_up.cache import SetUpCache
from patchwright.resolver.set_up.sandboxes import SETUP
from patchwright.sandbox.factory import create_factory
from tests.adapters.resolve.workbench import (
    FIX,
    RUN_TEST,
    WRITE_TEST,
    bench,
    finish,
)
from tests.adapters.sandbox.box import Box
from tests.fakes.scripted_model import ScriptedModel, Step, reply

pytestmark = pytest.mark.long

# Each run of it leaves a mark of its own: equal marks are one run.
MARK = "python3 -c 'import uuid; print(f\"mark:{uuid.uuid4()}\")'"
INSTALL = f"mkdir -p vendor/tools && {MARK} > vendor/tools/mark && cat lock.txt"
STEPS = (WRITE_TEST, FIX, finish(RUN_TEST))


class Watched:
    """Sandboxes that tell how they were set up, and what they had at their end."""

    def __init__(self, sandboxes: RuntimeFactory) -> None:
        self.kind, self.attach = sandboxes.kind, sandboxes.attach
        self.remove, self.reap = sandboxes.remove, sandboxes.reap
        self._sandboxes = sandboxes
        self.seen: list[WatchedRuntime] = []

    def start(self, spec: SandboxSpec) -> Runtime:
        runtime = WatchedRuntime(self._sandboxes.start(spec), spec.role)
        self.seen.append(runtime)
        return runtime


class WatchedRuntime:
    """A sandbox of a run; `commands` counts those of the set-up."""

    def __init__(self, runtime: Runtime, role: str) -> None:
        self.kind, self.role = runtime.kind, role
        self.cancel, self.blocked = runtime.cancel, runtime.blocked
        self.upload, self.download = runtime.upload, runtime.download
        self.open_pipe, self.detach = runtime.open_pipe, runtime.detach
        self.large_files = find_large_files(runtime)
        self._runtime = runtime
        self.commands, self.mark = 0, ""

    def run(self, action: SandboxAction, action_id: str) -> SandboxObservation:
        if isinstance(action, RunCommand) and action.session == SETUP:
            self.commands += 1
        return self._runtime.run(action, action_id)

    def close(self) -> None:
        if not self.mark:
            self.mark = Box(self._runtime).sh("cat vendor/tools/mark").output
        self._runtime.close()


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
        watched = Watched(self.sandboxes)
        with bench(
            self.folder / f"run-{number}",
            Models.only(model),
            sandboxes=watched,
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
        return Told(outcome, restored, watched.seen)


@dataclass(frozen=True)
class Told:
    """What a run left: its sandboxes, where they came from, and how it ended."""

    outcome: Outcome
    restored: list[SetUpRestored]
    sandboxes: list[WatchedRuntime]

    def commands(self) -> list[int]:
        """Return how many commands of the set-up each sandbox ran."""
        return [one.commands for one in self.sandboxes]

    def marks(self) -> set[str]:
        """Return the marks in the proof's sandboxes: one for each run of the set-up."""
        return {one.mark for one in self.sandboxes if one.role == "evidence"}


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
    assert first.commands() == [1, *[0] * len(first.restored)]
    assert second.commands() == [0] * len(second.restored)
    assert len(first.restored) > 1
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
    assert "mark:spoilt\n" not in changed.marks()
    assert shop.run().marks() == first.marks()
