"""Changes of a small repository, and what is proven of them in real sandboxes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from patchwright.core.llm.model import Models
from patchwright.core.types.evidence import Evidence, EvidenceRole, Proof, ProofReason
from patchwright.resolver.proof.evidence import ProofResult
from patchwright.resolver.prove import ProofRequest, proof_dependencies, prove
from tests.adapters.git.workshop import WorkTree
from tests.adapters.resolve.workbench import Bench, bench
from tests.fakes.scripted_model import ScriptedModel

# A file that the change removes.
GONE = None
Files = Mapping[str, bytes | None]


@dataclass(frozen=True)
class Change:
    """Files before the change, those that it changes, and the commands named for it."""

    before: Files
    after: Files
    commands: Sequence[str] = ()


def prove_change(folder: Path, change: Change, **more: Any) -> ProofResult:
    """Commit both versions, and prove the change; `more` are `ProofRequest` fields."""
    with bench(folder, Models.only(ScriptedModel([]))) as scene:
        base, head = commit_change(scene.repository, change)
        return prove_commits(scene, base, head, change.commands, **more)


def prove_commits(
    scene: Bench, base: str, head: str, commands: Sequence[str], **more: Any
) -> ProofResult:
    wanted = ProofRequest(base, head, tuple(commands), **more)
    return prove(wanted, proof_dependencies(scene.dependencies))


def commit_change(repository: WorkTree, change: Change) -> tuple[str, str]:
    _write(repository, change.before)
    base = repository.commit()
    _write(repository, change.after)
    return base, repository.commit()


def _write(repository: WorkTree, files: Files) -> None:
    for path, content in files.items():
        if content is None:
            (repository.path / path).unlink()
        else:
            repository.write(path, content)


def verdict(result: ProofResult) -> tuple[Proof, ProofReason]:
    return result.level, result.report.reason


def with_role(result: ProofResult, role: EvidenceRole) -> list[Evidence]:
    return [one for one in result.evidence if one.role is role]
