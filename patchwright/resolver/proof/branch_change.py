"""The change on a branch that is there already, and what its proof has found."""

from dataclasses import dataclass
from typing import Final

from patchwright.core.types.errors import PatchwrightError
from patchwright.core.types.work import DiffStat
from patchwright.integrations.git.objects import ObjectStore
from patchwright.resolver.proof.evidence import ProofResult

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
