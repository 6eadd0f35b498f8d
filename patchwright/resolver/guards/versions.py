"""Read the changed files of a change as they were and as they are now."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from patchwright.integrations.git.changes import GITLINK, ChangedPath, ChangeKind
from patchwright.integrations.git.objects import ObjectStore

# No smaller than what a change may add at most: nothing goes by unread.
MAX_FILE_BYTES: Final = 5_000_000


@dataclass(frozen=True, slots=True)
class FileVersions:
    """One changed file; a text is None where there is no such file."""

    change: ChangedPath
    before: str | None
    after: str | None


def read_versions(
    code: ObjectStore, base_sha: str, tree: str, changes: Sequence[ChangedPath]
) -> tuple[FileVersions, ...]:
    """Read both versions of the changes from base to `tree`, which may be a commit's.

    Bytes that are no UTF-8 are taken for Latin-1; nothing is lost by it that is ASCII.
    """
    new = (ChangeKind.ADDED, ChangeKind.COPIED)
    files = [change for change in changes if change.mode != GITLINK]
    old_paths = [old_path(c) for c in files if c.kind not in new]
    new_paths = [c.path for c in files if c.kind is not ChangeKind.DELETED]
    before = _read_texts(code, base_sha, old_paths)
    after = _read_texts(code, tree, new_paths)
    return tuple(
        FileVersions(
            change,
            None if change.kind in new else before.get(old_path(change)),
            after.get(change.path),
        )
        for change in files
    )


def old_path(change: ChangedPath) -> str:
    return change.old_path or change.path


def _read_texts(code: ObjectStore, commit: str, paths: Sequence[str]) -> Mapping[str, str]:
    found = code.read_files(commit, paths, MAX_FILE_BYTES)
    texts = {path: text for path, text in found.items() if isinstance(text, bytes)}
    # One at a time where many at once cannot name it, or a link leads elsewhere.
    others = [path for path in paths if path not in texts]
    singly = {path: _read_singly(code, commit, path) for path in others}
    read = {**texts, **{path: text for path, text in singly.items() if text}}
    return {path: _decoded(text) for path, text in read.items()}


def _read_singly(code: ObjectStore, commit: str, path: str) -> bytes | None:
    """Read a file or a link itself; what is larger has only moved, or got a mode."""
    size = code.size_of(commit, path)
    is_small = size is not None and size <= MAX_FILE_BYTES
    return code.read_file(commit, path) if is_small else None


def _decoded(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")
