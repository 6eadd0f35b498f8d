"""What differs between two commits, and what the changed paths are."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Final

from patchwright.core.types.work import DiffStat, FileStat
from patchwright.integrations.git.command import GitDir

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
    rows = count_by_file(store, base, head)
    return DiffStat(
        files=len(rows),
        insertions=sum(one.insertions for one in rows),
        deletions=sum(one.deletions for one in rows),
    )


def count_by_file(store: GitDir, base: str, head: str) -> tuple[FileStat, ...]:
    """Return the changed files in git's order; a renamed one has its new path."""
    return tuple(_read_counts(store.run([*_DIFF, "--numstat", base, head])))


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


def _read_counts(raw: bytes) -> Iterator[FileStat]:
    fields = iter(raw.split(b"\0"))
    for line in fields:
        if not line:
            return
        added, removed, path = line.split(b"\t", 2)
        if not path:  # a rename: both of its paths follow
            next(fields)
            path = next(fields)
        is_binary = added == b"-"
        yield FileStat(
            path=shown_path(path.decode("utf-8", "surrogateescape")),
            insertions=0 if is_binary else int(added),
            deletions=0 if is_binary else int(removed),
        )


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


_TEST_FOLDERS = frozenset(
    (
        *("test", "tests", "__tests__", "spec", "specs", "testing", "testdata", "e2e"),
        *("__snapshots__", "__fixtures__", "__mocks__"),
    )
)
_TEST_FILE = re.compile(
    r"(?:test_.+|.+_test|.+_spec|.+[.-](?:test|spec)|conftest)\.\w+"
    r"|tests\.py|.+\.(?:snap|ambr)"
    r"|.+(?:Tests?|Spec|IT)\.(?:java|kt|scala|cs|swift|groovy|php)"
)

_RUBBISH_FOLDERS = frozenset(
    (
        "__pycache__",
        ".agent",
        ".cache",
        ".eggs",
        ".gradle",
        ".hypothesis",
        ".ipynb_checkpoints",
        ".mypy_cache",
        ".nox",
        ".nyc_output",
        ".pytest_cache",
        ".ruff_cache",
        ".tox",
        ".venv",
        "htmlcov",
        "node_modules",
        "venv",
    )
)
_RUBBISH_FOLDER = re.compile(r".+\.egg-info")
_RUBBISH_FILE = re.compile(
    r".+\.(?:pyc|pyo|class|o|swp|swo|orig|rej|log|tmp)|\.DS_Store|\.coverage|core\.\d+"
)
# Only beside the readme: deeper down a file of that name may well be meant.
_RUBBISH_AT_THE_TOP = re.compile(r"repro(?:duce|duction)?(?:[_-].*)?\.\w+")


class ChangeProblemKind(StrEnum):
    TOO_MANY_FILES = "too-many-files"
    FILE_TOO_LARGE = "file-too-large"
    TOO_LARGE = "too-large"
    SUBMODULE = "submodule"


@dataclass(frozen=True, slots=True)
class ChangeProblem:
    """A reason not to propose a change as it is, and the paths it is about."""

    kind: ChangeProblemKind
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SizeLimits:
    """Beyond these a change is no fix any more; what it takes away counts, too."""

    max_files: int = 300
    max_file_bytes: int = 5_000_000
    max_total_bytes: int = 20_000_000


def is_test(path: str) -> bool:
    """Say whether a file is there to test others, by the habits of its language."""
    parts = PurePosixPath(path)
    if any(folder.lower() in _TEST_FOLDERS for folder in parts.parts[:-1]):
        return True
    return _TEST_FILE.fullmatch(parts.name) is not None


def is_rubbish(path: str) -> bool:
    """Say whether a file is what builds, tools and experiments leave behind."""
    *folders, name = PurePosixPath(path).parts
    if any(
        folder in _RUBBISH_FOLDERS or _RUBBISH_FOLDER.fullmatch(folder)
        for folder in folders
    ):
        return True
    if _RUBBISH_FILE.fullmatch(name):
        return True
    return not folders and _RUBBISH_AT_THE_TOP.fullmatch(name) is not None


def find_test_dependencies(changes: Sequence[ChangedPath]) -> tuple[ChangedPath, ...]:
    """Return what the tests of a change may need: tests, and whatever is new.

    A test that fails only because a new file is missing shows no fault in the old
    files.
    """
    new = (ChangeKind.ADDED, ChangeKind.COPIED, ChangeKind.RENAMED)
    return tuple(c for c in changes if c.kind in new or is_test(c.path))


def find_rubbish(changes: Sequence[ChangedPath]) -> tuple[ChangedPath, ...]:
    """Return what should not be proposed; a file that was there before may change."""
    new = (ChangeKind.ADDED, ChangeKind.COPIED)
    return tuple(
        change for change in changes if change.kind in new and is_rubbish(change.path)
    )


def find_excess(
    changes: Sequence[ChangedPath], limits: SizeLimits
) -> tuple[ChangeProblem, ...]:
    """Return what makes a change one to ask about before it is proposed."""
    paths = tuple(change.path for change in changes)
    large = tuple(c.path for c in changes if max(c.sizes) > limits.max_file_bytes)
    gitlinks = tuple(c.path for c in changes if GITLINK in (c.mode, c.old_mode))
    found = (
        (ChangeProblemKind.TOO_MANY_FILES, paths, len(paths) > limits.max_files),
        (ChangeProblemKind.FILE_TOO_LARGE, large, bool(large)),
        (
            ChangeProblemKind.TOO_LARGE,
            paths,
            sum(sum(change.sizes) for change in changes) > limits.max_total_bytes,
        ),
        (ChangeProblemKind.SUBMODULE, gitlinks, bool(gitlinks)),
    )
    return tuple(ChangeProblem(kind, paths) for kind, paths, holds in found if holds)
