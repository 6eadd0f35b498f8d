"""Tell which changes a forge's own interface can commit: plain files, nothing else."""

from collections.abc import Sequence
from typing import Final

from patchwright.integrations.git.changes import ChangedPath

_PLAIN: Final = 0o100644
_NO_MODE: Final = 0
# GitHub says nothing of a limit; beyond this a request takes too long to be sure.
MAX_BYTES: Final = 10_000_000


def can_commit_by_api(changes: Sequence[ChangedPath]) -> bool:
    """Say whether additions and deletions of plain files are all there is to a change.

    GitHub makes every file that it commits a plain one: no program, no link, no
    submodule. A path that is no UTF-8 has no name there.
    https://docs.github.com/en/graphql/reference/input-objects#fileaddition
    """
    size = sum(change.size for change in changes)
    return bool(changes) and size <= MAX_BYTES and all(map(_is_plain, changes))


def _is_plain(change: ChangedPath) -> bool:
    modes = {change.mode, change.old_mode} - {_NO_MODE}
    names = (change.path, change.old_path)
    return modes == {_PLAIN} and all(map(_has_name, names))


def _has_name(path: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in path)
