"""Look over a merge that the agent has resolved, before a commit is made of it."""

from dataclasses import dataclass

from patchwright.core.text.fence import inline_code
from patchwright.integrations.git.changes import ChangedPath, shown_path
from patchwright.integrations.git.objects import ObjectStore
from patchwright.resolver.messages.facts import count_noun

_SHOWN = 5


@dataclass(frozen=True)
class CheckedMerge:
    """What a merge has come to.

    `tree` has the submodules as the merge moves them. `changes` are those that are
    neither as one side has them nor as the other: only these are anybody's work.
    `objection` says why it must not be committed as a merge, if it must not.
    """

    tree: str
    changes: tuple[ChangedPath, ...]
    notes: tuple[str, ...] = ()
    objection: str = ""


def check_merge(
    code: ObjectStore, base_sha: str, merge_sha: str, head: str
) -> CheckedMerge:
    """Judge `head`, a commit or tree, as the merge of `merge_sha` into `base_sha`."""
    merge = code.merge(base_sha, merge_sha)
    joined = merge.merge_submodules(code.tree_of(head))
    unfinished = merge.find_conflict_markers(joined.tree)
    lost = merge.find_lost(joined.tree)
    return CheckedMerge(
        tree=joined.tree,
        changes=merge.own_changes(joined.tree),
        notes=(_submodules_text(joined.conflicting),) if joined.conflicting else (),
        objection=_conflict_markers_text(unfinished) or _lost_changes_text(lost),
    )


def _lost_changes_text(paths: tuple[str, ...]) -> str:
    if not paths:
        return ""
    return (
        f"What the base branch changed in {_list_paths(paths)} was left out, so the merge "
        "was not committed."
    )


def _conflict_markers_text(changes: tuple[ChangedPath, ...]) -> str:
    if not changes:
        return ""
    shown = _list_paths(tuple(change.path for change in changes))
    return f"Conflict markers were left in {shown}, so the merge was not committed."


def _submodules_text(paths: tuple[str, ...]) -> str:
    which = count_noun(len(paths), "submodule")
    return f"Both sides moved {which}, which stays as in this branch: {_list_paths(paths)}."


def _list_paths(paths: tuple[str, ...]) -> str:
    names = [inline_code(shown_path(path)) for path in paths[:_SHOWN]]
    more = len(paths) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")
