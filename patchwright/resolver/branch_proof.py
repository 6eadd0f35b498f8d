"""Prove the change on a branch that is there already, whoever made it."""

from collections.abc import Sequence
from dataclasses import replace

from patchwright.core.settings.limits import SandboxSettings
from patchwright.core.settings.repository import RepositoryConfig
from patchwright.core.types.work import Task
from patchwright.integrations.git.objects import ObjectStore
from patchwright.resolver.guards.changed_files import read_versions
from patchwright.resolver.guards.tampering import find_tampering, rules_out_proof
from patchwright.resolver.proof.branch_change import BranchChange, BranchProof
from patchwright.resolver.prove import ProofDependencies, ProofRequest, prove
from patchwright.resolver.set_up.plan import with_inferred_set_up
from patchwright.resolver.set_up.sandboxes import SetUp, sum_blocked_requests


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
