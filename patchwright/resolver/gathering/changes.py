"""Read what a pull request changes from git, not from what somebody says of it."""

from typing import Final

from patchwright.core.types.threads import PullRequest
from patchwright.integrations.git.changes import ChangedPath, ChangeKind
from patchwright.integrations.git.objects import ObjectStore
from patchwright.resolver.context import PullDiff

# Beyond this the files are listed alone; the agent has them in its checkout.
MAX_CHANGED_BYTES: Final = 20_000_000

_CHANGE_WORDS: Final = {
    ChangeKind.ADDED: "added",
    ChangeKind.MODIFIED: "modified",
    ChangeKind.DELETED: "deleted",
    ChangeKind.RENAMED: "renamed",
    ChangeKind.COPIED: "copied",
    ChangeKind.RETYPED: "changed type of",
}


def read_changes(
    code: ObjectStore, pull: PullRequest, base_sha: str, head_sha: str
) -> PullDiff:
    """Compare the head with the commit where it left the base, as the forge does.

    Without such a commit it is compared with the base itself. Raises `GitError`.
    """
    merge_base = code.merge_base(base_sha, head_sha) or base_sha
    changed = code.changed_paths(merge_base, head_sha)
    is_small = sum(sum(path.sizes) for path in changed) <= MAX_CHANGED_BYTES
    patch = code.diff(merge_base, head_sha) if is_small else b""
    return PullDiff(
        base_branch=pull.base_branch,
        head_branch=pull.head_branch,
        merge_base=merge_base,
        paths=tuple(map(_path_line, changed)),
        text=patch.decode("utf-8", "replace"),
    )


def _path_line(path: ChangedPath) -> str:
    moved = f"{_printable(path.old_path)} to " if path.old_path else ""
    return f"{_CHANGE_WORDS[path.kind]} {moved}{path.shown}"


def _printable(path: str) -> str:
    raw = path.encode("utf-8", "surrogateescape")
    return raw.decode("utf-8", "backslashreplace")
