"""Read both versions of changed files, and find those that a rule protects."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from patchwright.integrations.git.changes import GITLINK, ChangedPath, ChangeKind
from patchwright.integrations.git.objects import ObjectStore

# A run of stars is one; with `/` behind it, it may also stand for no folder at all.
_PART = re.compile(r"\*{2,}/|\*+|\?|[^*?]")


def matches(path: str, pattern: str) -> bool:
    """Tell whether a pattern covers a path.

    Without a slash in it, a pattern is about a file or folder of that name anywhere;
    with one it counts from the top. A folder is covered with all that is in it. Letter
    case does not matter: some file systems do not know it either.

    The time is at most that of comparing each part with each letter, however many stars
    there are: a regular expression would try all ways to share the letters among them.
    """
    parts, anywhere = _compiled(pattern)
    path = path.casefold()
    begins = {0, *(at + 1 for at, sign in enumerate(path) if sign == "/")}
    ends = begins if anywhere else {0}
    for part in parts:
        ends = _match_ends(path, ends, part)
        if not ends:
            return False
    return any(end == len(path) or path.startswith("/", end) for end in ends)


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> tuple[Sequence[str], bool]:
    trimmed = pattern.strip().strip("/")
    anywhere = "/" not in pattern.strip().rstrip("/")
    # Who puts a link in place of `.github` changes what is in it.
    return _PART.findall(trimmed.removesuffix("/**").casefold()), anywhere


def _match_ends(path: str, starts: set[int], part: str) -> set[int]:
    """Return where a part may end that begins at one of these places."""
    match part:
        case "?":
            return {at + 1 for at in starts if at < len(path) and path[at] != "/"}
        case "*":
            return _reach(path, starts, stop="/")
        case _ if part.endswith("*"):
            return set(range(min(starts), len(path) + 1))
        case _ if part.startswith("*"):
            first = min(starts)
            return starts | {
                at + 1 for at in range(first, len(path)) if path[at] == "/"
            }
        case _:
            return {at + 1 for at in starts if path.startswith(part, at)}


def _reach(path: str, starts: set[int], stop: str) -> set[int]:
    """Return each place from a start to the next sign that stops it."""
    ends: set[int] = set()
    is_inside = False
    for at in range(min(starts), len(path) + 1):
        is_inside = at in starts or (is_inside and path[at - 1] != stop)
        if is_inside:
            ends.add(at)
    return ends


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


def _read_texts(
    code: ObjectStore, commit: str, paths: Sequence[str]
) -> Mapping[str, str]:
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


@dataclass(frozen=True, slots=True)
class RuleViolation:
    """One rule of the repository, and the changed files that it is about."""

    rule: str
    changes: tuple[ChangedPath, ...]


def find_protected(
    changes: Sequence[ChangedPath], rules: Sequence[str]
) -> tuple[RuleViolation, ...]:
    """Return the rules that a change meets; where a file was counts like where it is.

    An empty rule is none.
    """
    found = (
        RuleViolation(rule, tuple(c for c in changes if _touches(c, rule)))
        for rule in rules
        if rule.strip("/ ")
    )
    return tuple(one for one in found if one.changes)


def _touches(change: ChangedPath, rule: str) -> bool:
    paths = (change.path, change.old_path)
    return any(path and matches(path, rule) for path in paths)
