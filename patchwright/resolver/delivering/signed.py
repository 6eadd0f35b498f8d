"""Have the forge make and sign a run's commit, where it can make it exactly."""

from patchwright.core.errors import (
    CommitDiffersError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    PushRefusedError,
)
from patchwright.core.forge import FileChange, NewCommit
from patchwright.core.types.work import Outcome
from patchwright.integrations.git.changes import ChangeKind
from patchwright.integrations.git.expressible import can_commit_by_api
from patchwright.integrations.git.objects import ObjectStore
from patchwright.resolver.delivering.destination import Destination, PublisherDependencies
from patchwright.resolver.effects import PushBranch


def push_signed(
    effect: PushBranch,
    outcome: Outcome,
    to: Destination,
    dependencies: PublisherDependencies,
    *,
    onto: str = "",
) -> str | None:
    """Put the change on its branch as a commit of the forge's own, and return its id.

    It is made on top of `onto`, by default of where the work has started. None means
    that git must push: the forge cannot make it, or would not. Raises BranchMovedError,
    and the errors that are worth another try.
    """
    protected = (to.repository.default_branch, outcome.base_branch)
    if not dependencies.forge_signs or effect.fork or effect.branch in protected:
        return None
    base_sha = onto or outcome.base_sha
    if effect.expect and effect.expect != base_sha:
        return None
    commit = _as_forge_commit(dependencies.fetch_mirror().objects, base_sha, effect.sha)
    if commit is None:
        return None
    try:
        return dependencies.forge.commit_on_branch(to.repository.ref, effect.branch, commit)
    except (
        CommitDiffersError,
        InvalidRequestError,
        NotFoundError,
        PermissionDeniedError,
        PushRefusedError,
    ):
        return None


def _as_forge_commit(code: ObjectStore, base_sha: str, sha: str) -> NewCommit | None:
    """Return a commit in the words of a forge, or None if it has none for it."""
    changes = code.changed_paths(base_sha, sha)
    if code.parents_of(sha) != (base_sha,) or not can_commit_by_api(changes):
        return None
    gone = {c.old_path for c in changes if c.kind is ChangeKind.RENAMED}
    gone |= {c.path for c in changes if c.kind is ChangeKind.DELETED}
    new = [c.path for c in changes if c.kind is not ChangeKind.DELETED]
    files = [FileChange(path=path, data=code.read_file(sha, path)) for path in new]
    removed = [FileChange(path=path, data=None) for path in sorted(gone - set(new))]
    return NewCommit(
        base_sha=base_sha,
        tree=code.tree_of(sha),
        message=code.message_of(sha),
        changes=(*files, *removed),
    )
