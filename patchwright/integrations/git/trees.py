"""The files of a commit: listed, read, and those that a filter should rewrite."""

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from patchwright.core.types.errors import GitError
from patchwright.integrations.git.changes import GITLINK, ChangedPath
from patchwright.integrations.git.command import GitDir


class UnreadReason(StrEnum):
    """Why a file was not read, as the end of a sentence about it."""

    NOT_THERE = "does not exist, or is not a file"
    OUTSIDE = "is a link that leads out of the repository"
    TOO_LARGE = "is too large"


_ENTRY = re.compile(r"(?P<mode>\d+) (?P<kind>\w+) [0-9a-f]+\t(?P<path>.+)", re.DOTALL)
_FOUND = re.compile(rb"(?P<blob>[0-9a-f]{40,64}) blob (?P<size>\d+)")
# https://git-scm.com/docs/git-cat-file#_batch_output
_ASTRAY = re.compile(rb"(?P<why>symlink|dangling|loop|notdir) (?P<size>\d+)")


def list_files(store: GitDir, commit: str) -> tuple[str, ...]:
    """List files and links, in git's order; submodules are neither.

    Bytes of a path that are no UTF-8 are lone surrogates.
    """
    raw = store.run(["ls-tree", "-r", "-z", "--full-tree", commit])
    entries = (
        _ENTRY.fullmatch(entry)
        for entry in raw.decode("utf-8", "surrogateescape").split("\0")
    )
    return tuple(
        entry["path"] for entry in entries if entry and entry["kind"] == "blob"
    )


def list_blobs(store: GitDir, commit: str) -> dict[str, str]:
    r"""Return the mode and the object of each file, link and submodule, by path.

    Bytes of a path that are no UTF-8 are written as `\xff`.
    """
    raw = store.run(["ls-tree", "-r", "-z", "--full-tree", commit])
    lines = raw.decode("utf-8", "backslashreplace").split("\0")
    entries = (line.partition("\t") for line in lines)
    return {path: what for what, found, path in entries if found}


def read_files(
    store: GitDir, commit: str, paths: Sequence[str], max_bytes: int
) -> Mapping[str, bytes | UnreadReason]:
    """Read files, through links as long as these stay in the tree of the commit.

    A path with a line break in it is not found.
    """
    asked = [path for path in paths if "\n" not in path]
    found = dict(zip(asked, _find(store, commit, asked, max_bytes), strict=True))
    blobs = {blob for blob in found.values() if not isinstance(blob, UnreadReason)}
    contents = _contents(store, sorted(blobs))
    return {
        path: contents[blob] if not isinstance(blob, UnreadReason) else blob
        for path in paths
        for blob in [found.get(path, UnreadReason.NOT_THERE)]
    }


def _find(
    store: GitDir, commit: str, paths: Sequence[str], max_bytes: int
) -> Iterator[str | UnreadReason]:
    """Yield the blob of each path."""
    if not paths:
        return
    question = "".join(f"{commit}:{path}\n" for path in paths)
    check = ["cat-file", "--batch-check", "--follow-symlinks"]
    raw = store.run(check, stdin=question.encode("utf-8", "surrogateescape"))
    at = 0
    for _ in paths:
        line, at = _line(raw, at)
        astray = _ASTRAY.fullmatch(line)
        if astray:
            at += int(astray["size"]) + 1  # where the link leads, on a line of its own
        yield _blob_or_reason(line, astray, max_bytes)


def _blob_or_reason(
    line: bytes, astray: re.Match[bytes] | None, max_bytes: int
) -> str | UnreadReason:
    if astray:
        return (
            UnreadReason.OUTSIDE
            if astray["why"] == b"symlink"
            else UnreadReason.NOT_THERE
        )
    found = _FOUND.fullmatch(line)
    if found is None:
        return UnreadReason.NOT_THERE
    if int(found["size"]) > max_bytes:
        return UnreadReason.TOO_LARGE
    return found["blob"].decode("ascii")


def _contents(store: GitDir, blobs: Sequence[str]) -> dict[str, bytes]:
    if not blobs:
        return {}
    question = "".join(f"{blob}\n" for blob in blobs).encode("ascii")
    raw = store.run(["cat-file", "--batch"], stdin=question)
    contents: dict[str, bytes] = {}
    at = 0
    for blob in blobs:
        line, at = _line(raw, at)
        found = _FOUND.fullmatch(line)
        if found is None:
            raise GitError(f"git cannot read the file {blob}")
        size = int(found["size"])
        contents[blob] = raw[at : at + size]
        at += size + 1
    return contents


def _line(raw: bytes, at: int) -> tuple[bytes, int]:
    end = raw.index(b"\n", at)
    return raw[at:end], end + 1


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
        done = store.run(check, environment=index, stdin=asked)
    fields = done.decode("utf-8", "surrogateescape").split("\0")
    found = zip(fields[::3], fields[2::3], strict=False)
    return {path: name for path, name in found if name not in ("unspecified", "unset")}
