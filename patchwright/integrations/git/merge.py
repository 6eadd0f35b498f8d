"""What a merge of two commits changed, and what was left undone in it."""

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from patchwright.core.types.errors import GitError
from patchwright.integrations.git.changes import (
    GITLINK,
    ChangedPath,
    list_changes,
)
from patchwright.integrations.git.command import GitDir
from patchwright.integrations.git.commits import replace_paths
from patchwright.integrations.git.trees import UnreadReason, list_files, read_files

_MAX_BYTES = 5_000_000
# Where a conflict begins and where it ends; seven characters, or more by attribute.
# https://git-scm.com/docs/git-merge#_how_conflicts_are_presented
_OPENING = re.compile(rb"^<{7,}(?: .*)?\r?$", re.MULTILINE)
_CLOSING = re.compile(rb"^>{7,}(?: .*)?\r?$", re.MULTILINE)

_Gitlinks = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class MergedSubmodules:
    """A tree with the submodules of a merge; `torn` are those that both sides moved.

    A torn one stays where our side has it.
    """

    tree: str
    conflicting: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Merge:
    """The branch that is merged into, and what is merged; both are full ids."""

    git: GitDir
    ours: str
    theirs: str

    def own_changes(self, head: str) -> tuple[ChangedPath, ...]:
        """List the changes to our side that are not as the other side has them.

        So what git put together of both is among them, and what was made by hand.
        `head` is a commit or a tree.
        """
        unlike_theirs = {c.path for c in list_changes(self.git, self.theirs, head)}
        from_ours = list_changes(self.git, self.ours, head)
        return tuple(change for change in from_ours if change.path in unlike_theirs)

    def find_lost(self, head: str) -> tuple[str, ...]:
        """Return what the other side alone has changed, and `head` has as ours is.

        A merge looks like this after an abort, or if their side was left out.
        """
        before = self._find_ancestor()
        theirs_alone = self._touched(before, self.theirs) - self._touched(
            before, self.ours
        )
        unlike_theirs = self._touched(self.theirs, head)
        lost = theirs_alone & unlike_theirs - self._touched(self.ours, head)
        return tuple(sorted(lost))

    def _touched(self, base: str, head: str) -> set[str]:
        changes = list_changes(self.git, base, head)
        paths = {path for c in changes for path in (c.path, c.old_path)}
        return paths - {""}

    def find_conflict_markers(self, head: str) -> tuple[ChangedPath, ...]:
        """Return the files with marks of a conflict that neither side has had."""
        changed = [c for c in self.own_changes(head) if c.mode not in (0, GITLINK)]
        paths = [change.path for change in changed]
        now, ours, theirs = (
            read_files(self.git, commit, paths, _MAX_BYTES)
            for commit in (head, self.ours, self.theirs)
        )
        return tuple(
            change
            for change in changed
            if adds_conflict_markers(
                now[change.path], ours[change.path], theirs[change.path]
            )
        )

    def merge_submodules(self, tree: str) -> MergedSubmodules:
        """Move the submodules of a tree as the other side did, and no others.

        The tree has them where our side has them: nothing else moves one.
        """
        ours = _list_gitlinks(self.git, self.ours)
        theirs = _list_gitlinks(self.git, self.theirs)
        before = _list_gitlinks(self.git, self._find_ancestor())
        either = before.keys() | theirs.keys()
        moved = {path for path in either if theirs.get(path) != before.get(path)}
        torn = {
            path
            for path in moved
            if ours.get(path) not in (before.get(path), theirs.get(path))
        }
        followed = self._what_theirs_has(moved - torn)
        joined = (
            replace_paths(self.git, tree, self.theirs, followed) if followed else tree
        )
        return MergedSubmodules(joined, tuple(sorted(torn)))

    def _what_theirs_has(self, links: Collection[str]) -> set[str]:
        """Return the paths, and the files that are there instead of a submodule."""
        folders = tuple(f"{path}/" for path in links)
        files = list_files(self.git, self.theirs) if links else ()
        return {*links, *(file for file in files if file.startswith(folders))}

    def _find_ancestor(self) -> str:
        done = self.git.call(["merge-base", self.ours, self.theirs])
        if done.exit_code != 0:
            raise GitError("the two branches have no commit in common")
        return done.output.decode("ascii").strip()


def adds_conflict_markers(
    now: bytes | UnreadReason, *before: bytes | UnreadReason
) -> bool:
    """Say whether a file has got the marks of a conflict that it had not."""
    if isinstance(now, UnreadReason):
        return False
    known = b"\n".join(side for side in before if isinstance(side, bytes))
    return all(
        Counter(mark.findall(now)) - Counter(mark.findall(known))
        for mark in (_OPENING, _CLOSING)
    )


def _list_gitlinks(store: GitDir, commit: str) -> _Gitlinks:
    """Return the commits of submodules by their paths."""
    listing = store.run(["ls-tree", "-r", "-z", "--full-tree", commit])
    entries = listing.decode("utf-8", "surrogateescape").split("\0")
    found = (
        entry.partition("\t") for entry in entries if entry.startswith(f"{GITLINK:o} ")
    )
    return {path: head.split(" ")[2] for head, _, path in found}
