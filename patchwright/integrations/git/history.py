"""How far the history goes that a repository has: shallow and partial clones."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from patchwright.core.errors import GitError
from patchwright.integrations.git.gitdir import GitDir

_SHOWN_PATHS: Final = 3
# What says that objects may be missing, and be had elsewhere.
# https://git-scm.com/docs/partial-clone
_PROMISES: Final = r"^(extensions\.partialclone|remote\..*\.promisor)$"


def shallow_commits(store: GitDir) -> frozenset[str]:
    """Return the commits of a shallow clone whose parents are not there."""
    where = ["rev-parse", "--path-format=absolute", "--git-path", "shallow"]
    file = Path(store.run(where).decode("utf-8", "surrogateescape").rstrip("\n"))
    try:
        return frozenset(file.read_text(encoding="ascii").split())
    except FileNotFoundError:
        return frozenset()


def is_partial(store: GitDir) -> bool:
    """Tell whether files of earlier commits may be missing."""
    return store.call(["config", "--get-regexp", _PROMISES]).exit_code == 0


def find_ends(store: GitDir, commits: Sequence[str], bases: Sequence[str]) -> list[str]:
    """Return where the history of `commits` ends before its first commit.

    In a partial clone that is at `bases`, since the files of earlier commits need not
    be there.
    """
    if is_partial(store):
        return list(bases)
    cut = shallow_commits(store)
    if not cut:
        return []
    roots = store.run_text(["rev-list", "--max-parents=0", *commits]).split()
    return [root for root in roots if root in cut]


def require_files(store: GitDir, commit: str) -> None:
    """Raise GitError where a partial clone lacks files of the commit itself."""
    if not is_partial(store):
        return
    tree = f"{commit}^{{tree}}"
    listed = store.run(["rev-list", "--objects", "--missing=print", tree])
    lines = listed.decode("utf-8", "backslashreplace").splitlines()
    missing = {line[1:] for line in lines if line.startswith("?")}
    if not missing:
        return
    paths = _paths_of_missing(store, commit, missing)
    named = ", ".join(paths[:_SHOWN_PATHS]) or "among them whole folders"
    more = f" and {len(paths) - _SHOWN_PATHS} more" if len(paths) > _SHOWN_PATHS else ""
    raise GitError(
        f"this is a partial clone, and it lacks files of the commit {commit[:10]}: "
        f"{named}{more}. Fetch them with `git fetch --refetch --no-filter`"
    )


def _paths_of_missing(store: GitDir, commit: str, objects: set[str]) -> list[str]:
    listing = store.call(["ls-tree", "-r", "-z", "--full-tree", commit])
    entries = listing.output.decode("utf-8", "backslashreplace").split("\0")
    found = (entry.partition("\t") for entry in entries if entry)
    return [path for head, _, path in found if head.split(" ")[2] in objects]
