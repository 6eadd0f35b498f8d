"""Files of a commit that a filter of `.gitattributes` should have rewritten.

Filters are programs of the user's own, such as Git LFS or one that encrypts. None of
them is run for a change, so what they would have made is not in it.
"""

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from patchwright.integrations.git.changes import GITLINK, ChangedPath
from patchwright.integrations.git.gitdir import GitDir
from patchwright.integrations.git.trees import list_files, read_files

_ENCRYPTS: Final = re.compile(r"crypt|vault|sops|gpg|\bage\b|secret", re.IGNORECASE)
# https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md
_POINTER: Final = b"version https://git-lfs.github.com/spec/"
_MAX_POINTER_BYTES: Final = 1024
_ATTRIBUTES: Final = ".gitattributes"
_MAX_ATTRIBUTES_BYTES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class FilteredFile:
    """A changed file and its filter. `is_pointer` says that Git LFS has seen it."""

    path: str
    filter: str
    is_pointer: bool

    @property
    def encrypts(self) -> bool:
        """Say whether the filter is there to keep the content from being read."""
        return _ENCRYPTS.search(self.filter) is not None


def find_filtered(
    store: GitDir, commit: str, changes: Sequence[ChangedPath]
) -> tuple[FilteredFile, ...]:
    """Return the files with new content for which a filter is named."""
    paths = [c.path for c in changes if c.mode not in (0, GITLINK) and not c.is_same]
    if not paths or not _has_filter_rules(store, commit):
        return ()
    named = _filters_of(store, commit, paths)
    contents = read_files(store, commit, list(named), _MAX_POINTER_BYTES)
    return tuple(
        FilteredFile(path, name, _is_pointer(contents[path]))
        for path, name in named.items()
    )


def _is_pointer(content: object) -> bool:
    return isinstance(content, bytes) and content.startswith(_POINTER)


def _has_filter_rules(store: GitDir, commit: str) -> bool:
    files = list_files(store, commit)
    rules = [one for one in files if one.rpartition("/")[2] == _ATTRIBUTES]
    read = read_files(store, commit, rules, _MAX_ATTRIBUTES_BYTES)
    return any(not isinstance(one, bytes) or b"filter" in one for one in read.values())


def _filters_of(store: GitDir, commit: str, paths: Sequence[str]) -> dict[str, str]:
    asked = b"".join(path.encode("utf-8", "surrogateescape") + b"\0" for path in paths)
    with tempfile.TemporaryDirectory(prefix="patchwright-index-") as folder:
        index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        store.run(["read-tree", commit], environment=index)
        check = ["check-attr", "--cached", "-z", "--stdin", "filter"]
        told = store.run(check, environment=index, stdin=asked)
    fields = told.decode("utf-8", "surrogateescape").split("\0")
    found = zip(fields[::3], fields[2::3], strict=False)
    return {path: name for path, name in found if name not in ("unspecified", "unset")}
