"""Take out of a change what nobody meant to propose, and see what should be asked."""

from dataclasses import dataclass

from patchwright.integrations.git.changes import ChangedPath
from patchwright.integrations.git.objects import ObjectStore
from patchwright.integrations.git.paths import (
    FindingKind,
    SizeLimits,
    find_excess,
    find_rubbish,
)
from patchwright.resolver.messages.facts import counted

_SHOWN = 5


@dataclass(frozen=True)
class Cleaned:
    """The tree to propose, remarks on it, and what makes it one to ask about."""

    tree: str
    notes: tuple[str, ...]
    excess: tuple[str, ...]


def clean(code: ObjectStore, base_sha: str, head_sha: str) -> Cleaned:
    """Judge the change from base to head; left-overs of builds are not part of it."""
    changes = code.changed_paths(base_sha, head_sha)
    rubbish = find_rubbish(changes)
    paths = {change.path for change in rubbish}
    kept = tuple(change for change in changes if change.path not in paths)
    return Cleaned(
        tree=code.graft(head_sha, base_sha, paths) if paths else code.tree_of(head_sha),
        notes=tuple(
            [f"Left out as build or scratch files: {_listed(rubbish)}."]
            if paths
            else []
        ),
        excess=tuple(
            f"{_WORDS[finding.kind]} ({counted(len(finding.paths), 'path')})"
            for finding in find_excess(kept, SizeLimits())
        ),
    )


_WORDS = {
    FindingKind.TOO_MANY_FILES: "it touches very many files",
    FindingKind.FILE_TOO_LARGE: "it adds a very large file",
    FindingKind.TOO_LARGE: "it is very large in all",
    FindingKind.SUBMODULE: "it moves a submodule",
}


def _listed(changes: tuple[ChangedPath, ...]) -> str:
    names = [f"`{change.shown}`" for change in changes[:_SHOWN]]
    more = len(changes) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")
