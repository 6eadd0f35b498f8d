"""For each test runner, a real change goes from red to green in real sandboxes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from patchwright.core.events.jsonl import JsonlEventLog
from patchwright.core.runtime import Runtime, RuntimeFactory, SandboxSpec
from patchwright.core.system.clock import SystemClock
from patchwright.core.types.evidence import Evidence, EvidenceRole, Proof, RunStatus
from patchwright.resolver.proof.evidence import ProofResult
from patchwright.resolver.proof.runner_calls import read_call
from patchwright.resolver.proof.test_selection import command_for
from patchwright.resolver.prove import ProofDependencies, ProofRequest, prove
from patchwright.resolver.set_up.sandboxes import NO_SET_UP, SetUp
from patchwright.sandbox.factory import create_factory
from tests.adapters.git.workshop import WorkTree
from tests.real.npm_releases import pack_tools, read_release
from tests.real.projects import Project, load_projects
from tests.real.recipes import load_recipes
from tests.real.sdists import make_files
from tests.real.test_recipes import apply_edits, write_tests

UNPACK = SetUp(('tar -xf "$WORKSPACE/node_modules.tar"',))


@dataclass
class WithFiles:
    """Starts sandboxes in which files lie beside the repository."""

    inner: RuntimeFactory
    files: Mapping[str, bytes]
    kind: str = "bubblewrap"

    def start(self, spec: SandboxSpec) -> Runtime:
        runtime = self.inner.start(spec)
        for path, content in self.files.items():
            runtime.upload(path, content)
        return runtime

    def attach(self, spec: SandboxSpec) -> Runtime | None:
        return self.inner.attach(spec)

    def remove(self, run_id: str) -> int:
        return self.inner.remove(run_id)

    def reap(self) -> int:
        return self.inner.reap()


@pytest.mark.real
@pytest.mark.timeout(480)
@pytest.mark.parametrize("project", load_projects(), ids=str)
def test_each_test_goes_from_red_to_green(project: Project, tmp_path: Path) -> None:
    call = read_call(project.command)
    assert call is not None
    assert (command_for(call, project.fixed) is not None) is project.selects

    found = _prove(project, tmp_path)
    evidence = found.evidence

    assert found.level is Proof.PROVEN, _describe(found)
    red = _first_of(evidence, EvidenceRole.BEFORE, call.command)
    green = _first_of(evidence, EvidenceRole.AFTER, call.command)
    assert (red.status, green.status) == (RunStatus.RAN, RunStatus.RAN)
    assert red.results is not None
    assert green.results is not None
    assert red.results.runner == project.runner
    assert set(red.results.failing) == set(project.fixed)
    assert set(green.results.passing) >= set(project.fixed)
    assert not red.results.broken
    assert red.results.passed >= len(project.also)
    for name, cause in zip(project.fixed, project.causes, strict=True):
        assert re.match(cause, red.results.causes.get(name, "")), name


def _describe(found: ProofResult) -> str:
    """Return what was run and how it ended."""
    runs = (
        f"{one.role} {one.status} exit {one.exit_code} after {one.seconds} s: "
        f"{one.command}\n{one.tail[-500:]}"
        for one in found.evidence
    )
    return "\n".join((str(found.report.reason), *runs))


def _prove(project: Project, folder: Path) -> ProofResult:
    repository, base, head = _commits(project, folder / "repository")
    clock = SystemClock()
    sandboxes: RuntimeFactory = create_factory("bubblewrap", clock)
    if project.tools:
        files = {"/workspace/node_modules.tar": pack_tools(project.tools)}
        sandboxes = WithFiles(sandboxes, files)
    with JsonlEventLog(folder / "events.jsonl", lambda tree: tree, clock) as log:
        spec = SandboxSpec(run_id="real-runners")
        dependencies = ProofDependencies(
            sandboxes, spec, repository.objects, log, clock
        )
        set_up = UNPACK if project.tools else NO_SET_UP
        return prove(
            ProofRequest(base, head, (project.command,), set_up=set_up), dependencies
        )


def _commits(project: Project, folder: Path) -> tuple[WorkTree, str, str]:
    """Return the project's repository, its commit with the fault and the mended one."""
    repository = WorkTree.start(folder)
    recipe = next((one for one in load_recipes() if one.name == project.recipe), None)
    if recipe:
        make_files(recipe, folder)
    if project.release:
        _write(repository, read_release(project.release))
    _write(repository, _encoded(project.base))
    repository.write(".gitignore", b"node_modules\n")
    base = repository.commit()
    if recipe:
        write_tests(recipe, folder)
        apply_edits(recipe, folder)
    if project.fixed_release:
        files = read_release(project.fixed_release)
        _write(repository, {path: files[path] for path in project.taken})
    _write(repository, _encoded(project.head))
    return repository, base, repository.commit()


def _write(repository: WorkTree, files: Mapping[str, bytes]) -> None:
    for path, content in files.items():
        repository.write(path, content)


def _encoded(files: Mapping[str, str]) -> dict[str, bytes]:
    return {path: text.lstrip("\n").encode() for path, text in files.items()}


def _first_of(
    evidence: tuple[Evidence, ...], role: EvidenceRole, command: str
) -> Evidence:
    return next(one for one in evidence if (one.role, one.command) == (role, command))
