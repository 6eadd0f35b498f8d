"""P7: every change has the level of proof that it earns, and none has more."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from patchwright.core.llm.model import Models
from patchwright.core.types.evidence import Proof
from patchwright.resolver.clean import clean
from patchwright.resolver.proof.evidence import ProofResult
from patchwright.resolver.prove import proof_dependencies, proof_request, prove
from tests.adapters.resolve.workbench import bench
from tests.fakes.scripted_model import ScriptedModel
from tests.promises.changes import SHOP, Change
from tests.promises.false_changes import FALSE_CHANGES
from tests.promises.true_changes import TRUE_CHANGES

CHANGES = {**TRUE_CHANGES, **FALSE_CHANGES}


def prove_change(folder: Path, change: Change) -> ProofResult:
    """Prove the change as a run does, with what its guards say about it."""
    with bench(folder, Models.only(ScriptedModel([]))) as scene:
        repository, code = scene.repository, scene.dependencies.code
        for path, content in {**SHOP, **change.before}.items():
            repository.write(path, content.encode())
        base = repository.commit()
        for path, after in change.head.items():
            if after is None:
                repository.git("rm", "--quiet", path)
            else:
                repository.write(path, after.encode())
        head = repository.commit()
        cleaned = clean(code, base, head)
        wanted = proof_request(
            scene.at(base),
            scene.dependencies,
            head,
            change.commands,
            is_doubtful=cleaned.rules_out_proof,
        )
        return prove(wanted, proof_dependencies(scene.dependencies))


def test_there_are_at_least_forty_changes() -> None:
    assert len(CHANGES) >= 40


@pytest.mark.long
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_has_the_level_that_it_earns(name: str, tmp_path: Path) -> None:
    change = CHANGES[name]
    found = prove_change(tmp_path, change)
    report = found.report
    assert found.level in change.levels, report
    if change.reason is not None:
        assert report.reason is change.reason
    assert _named(report.newly_failing) == set(change.newly_failing)
    assert _named(report.altered) == set(change.altered)
    assert _named(report.flaky) == set(change.flaky)
    if found.level is Proof.PROVEN:
        assert {one.path for one in report.uncovered} == set(change.uncovered)
        assert report.tests


def _named(tests: Iterable[str]) -> set[str]:
    """Return the names of tests without their modules and classes."""
    return {one.replace("::", ".").rpartition(".")[2] for one in tests}
