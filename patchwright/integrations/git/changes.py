"""What differs between two commits, as git itself lists it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from patchwright.core.types.work import DiffStat
from patchwright.integrations.git.gitdir import GitDir

GITLINK = 0o160000
_ABSENT = 0


class ChangeKind(StrEnum):
    ADDED = "A"
    MODIFIED = "M"
    DELETED = "D"
    RENAMED = "R"
    COPIED = "C"
    RETYPED = "T"


@dataclass(frozen=True, slots=True)
class ChangedPath:
    """One changed file.

    `path` holds bytes that are no UTF-8 as lone surrogates, so that git gets back
    exactly what it gave. `mode` and `size` (bytes) are those after the change; both
    are 0 for a deleted file. `old_mode` and `old_size` are 0 for a new one. With
    `is_same` the content has not changed, but the name or the mode.
    """

    path: str
    kind: ChangeKind
    mode: int
    size: int
    old_path: str = ""
    old_mode: int = 0
    # What a change is does not depend on how much of it there was.
    old_size: int = field(default=0, compare=False)
    is_same: bool = field(default=False, compare=False)

    @property
    def sizes(self) -> tuple[int, int]:
        """Return how much there is to read of it, before and after."""
        return (0, 0) if self.is_same else (self.old_size, self.size)

    @property
    def shown(self) -> str:
        """The path as text that can be printed and sent anywhere."""
        return shown_path(self.path)


def shown_path(path: str) -> str:
    """Return a path of git's as text that can be printed and sent anywhere."""
    raw = path.encode("utf-8", "surrogateescape")
    return raw.decode("utf-8", "backslashreplace")


@dataclass(frozen=True, slots=True)
class _RawChange:
    old_mode: int
    mode: int
    old_blob: str
    blob: str
    kind: ChangeKind
    old_path: str
    path: str


def list_changes(store: GitDir, base: str, head: str) -> tuple[ChangedPath, ...]:
    """List the changes from `base` to `head`, renames found."""
    raw = store.run([*_DIFF, "--raw", "--no-abbrev", base, head])
    entries = tuple(_read_entries(raw))
    sizes = _fetch_sizes(store, entries)
    return tuple(
        ChangedPath(
            path=entry.path,
            kind=entry.kind,
            mode=entry.mode,
            size=sizes.get(entry.blob, 0),
            old_path=entry.old_path,
            old_mode=entry.old_mode,
            old_size=sizes.get(entry.old_blob, 0),
            is_same=entry.old_blob == entry.blob,
        )
        for entry in entries
    )


def count_changes(store: GitDir, base: str, head: str) -> DiffStat:
    rows = tuple(_read_counts(store.run([*_DIFF, "--numstat", base, head])))
    return DiffStat(
        files=len(rows),
        insertions=sum(added for added, _ in rows),
        deletions=sum(removed for _, removed in rows),
    )


_DIFF = ("diff-tree", "-r", "-z", "-M", "--no-ext-diff", "--no-textconv")


def _read_entries(raw: bytes) -> Iterator[_RawChange]:
    # https://git-scm.com/docs/git-diff-tree#_raw_output_format
    fields = iter(raw.decode("utf-8", "surrogateescape").split("\0"))
    for head in fields:
        if not head:
            return
        old_mode, mode, old_blob, blob, status = head.removeprefix(":").split(" ")
        kind = ChangeKind(status[0])
        first = next(fields)
        moved = kind in (ChangeKind.RENAMED, ChangeKind.COPIED)
        yield _RawChange(
            old_mode=int(old_mode, 8),
            mode=int(mode, 8),
            old_blob=old_blob,
            blob=blob,
            kind=kind,
            old_path=first if moved else "",
            path=next(fields) if moved else first,
        )


def _read_counts(raw: bytes) -> Iterator[tuple[int, int]]:
    fields = iter(raw.split(b"\0"))
    for line in fields:
        if not line:
            return
        added, removed, path = line.split(b"\t", 2)
        if not path:  # a rename: both of its paths follow
            next(fields)
            next(fields)
        binary = added == b"-"
        yield (0, 0) if binary else (int(added), int(removed))


def _fetch_sizes(store: GitDir, entries: tuple[_RawChange, ...]) -> dict[str, int]:
    sides = (
        side
        for entry in entries
        for side in ((entry.old_mode, entry.old_blob), (entry.mode, entry.blob))
    )
    blobs = {blob for mode, blob in sides if mode not in (_ABSENT, GITLINK)}
    if not blobs:
        return {}
    question = "".join(f"{blob}\n" for blob in sorted(blobs)).encode()
    check = ["cat-file", "--batch-check=%(objectname) %(objectsize)"]
    answers = store.run(check, stdin=question).decode("ascii").splitlines()
    return {name: int(size) for name, size in (line.split(" ") for line in answers)}
