"""Prove the change on a branch that is there already, whoever made it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from patchwright.core.settings.limits import SandboxSettings
from patchwright.core.settings.repository import RepositoryConfig
from patchwright.core.types.errors import PatchwrightError
from patchwright.core.types.work import DiffStat, Task
from patchwright.integrations.git.objects import ObjectStore
from patchwright.resolver.guards.changed_files import read_versions
from patchwright.resolver.guards.tampering import find_tampering, rules_out_proof
from patchwright.resolver.proof.evidence import ProofResult
from patchwright.resolver.prove import ProofDependencies, ProofRequest, prove
from patchwright.resolver.sandboxes import SetUp, sum_blocked_requests
from patchwright.resolver.set_up.plan import with_inferred_set_up

_SHA_CHARS: Final = 10


class NoChangeError(PatchwrightError):
    """There is nothing between two commits that could be proven."""

    reason = "no-change"


@dataclass(frozen=True)
class BranchChange:
    """The change from `base_sha`, the newest commit that both have, to `head_sha`.

    `target_sha` is the commit that it is compared with, the branch that it is for.
    """

    base_sha: str
    head_sha: str
    target_sha: str
    size: DiffStat

    @property
    def name(self) -> str:
        return f"{self.base_sha[:_SHA_CHARS]}..{self.head_sha[:_SHA_CHARS]}"


def find_change(code: ObjectStore, target_sha: str, head_sha: str) -> BranchChange:
    """Return what `head_sha` adds to where it left the target's history.

    Raises `NoChangeError` where that is nothing, or where they share no history.
    """
    if target_sha == head_sha:
        raise NoChangeError(
            f"both are the commit {head_sha[:_SHA_CHARS]}: there is no change to prove"
        )
    base_sha = code.merge_base(target_sha, head_sha)
    if base_sha is None:
        raise NoChangeError(_say_unrelated(code, target_sha, head_sha))
    if base_sha == head_sha:
        raise NoChangeError(
            f"{head_sha[:_SHA_CHARS]} is part of {target_sha[:_SHA_CHARS]} already: "
            "there is no change to prove"
        )
    if code.tree_of(base_sha) == code.tree_of(head_sha):
        raise NoChangeError(
            f"{head_sha[:_SHA_CHARS]} has the same files as {base_sha[:_SHA_CHARS]}, "
            "where its branch began: there is no change to prove"
        )
    size = code.diff_stat(base_sha, head_sha)
    return BranchChange(base_sha, head_sha, target_sha, size)


def _say_unrelated(code: ObjectStore, target_sha: str, head_sha: str) -> str:
    said = (
        f"{target_sha[:_SHA_CHARS]} and {head_sha[:_SHA_CHARS]} have no commit in "
        "common"
    )
    if code.is_shallow():
        return (
            f"{said} in this shallow clone; fetch the rest of the history with "
            "`git fetch --unshallow`"
        )
    return f"{said}: their histories are not related"


@dataclass(frozen=True)
class BranchProof:
    """What was found of a change; `notes` say how it was run, and what was left out."""

    change: BranchChange
    result: ProofResult
    notes: tuple[str, ...] = ()


def prove_change(
    change: BranchChange,
    commands: Sequence[str],
    config: RepositoryConfig,
    sandbox: SandboxSettings,
    dependencies: ProofDependencies,
) -> BranchProof:
    """Prove it by these commands, or without one by what its tests are run with.

    `config` is the repository's own, as it was before the change. Changes to how tests
    are run count against the proof, as they do for a change of ours. Raises
    `SandboxError` and `GitError`.
    """
    code = dependencies.code
    changes = code.changed_paths(change.base_sha, change.head_sha)
    versions = read_versions(code, change.base_sha, change.head_sha, changes)
    task = _with_set_up(change, code, config, sandbox)
    request = ProofRequest(
        base_sha=change.base_sha,
        head_sha=change.head_sha,
        commands=tuple(commands),
        tests=config.test,
        set_up=SetUp(task.setup, task.setup_may_fail, config.file),
        is_doubtful=rules_out_proof(versions),
    )
    result = prove(request, dependencies)
    warnings = dict.fromkeys((*find_tampering(versions), *result.warnings))
    return BranchProof(
        change,
        replace(result, warnings=tuple(warnings)),
        (*task.notes, *_blocked_notes(dependencies)),
    )


def _with_set_up(
    change: BranchChange,
    code: ObjectStore,
    config: RepositoryConfig,
    sandbox: SandboxSettings,
) -> Task:
    """Return a task that has only what a set-up is inferred for."""
    task = Task(
        text="",
        base_sha=change.base_sha,
        setup=config.setup,
        setup_may_fail=config.on_setup_failure == "continue",
        trusted_sha=change.base_sha,
    )
    return with_inferred_set_up(task, code, config, sandbox)


def _blocked_notes(dependencies: ProofDependencies) -> tuple[str, ...]:
    blocked = sum_blocked_requests(dependencies.log, 1)
    if not blocked:
        return ()
    hosts = ", ".join(dict.fromkeys(one.host for one in blocked))
    return (f"The sandboxes tried to reach hosts that are not allowed: {hosts}.",)
