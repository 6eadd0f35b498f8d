"""The files of a commit: listed, and read without leaving its tree."""

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum

from patchwright.core.errors import GitError
from patchwright.integrations.git.gitdir import GitDir


class UnreadReason(StrEnum):
    """Why a file was not read, as the end of a sentence about it."""

    NOT_THERE = "is not there, or is no file"
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


def _blob_or_reason(line: bytes, astray: re.Match[bytes] | None, max_bytes: int) -> str | UnreadReason:
    if astray:
        return UnreadReason.OUTSIDE if astray["why"] == b"symlink" else UnreadReason.NOT_THERE
    found = _FOUND.fullmatch(line)
    if found is None:
        return UnreadReason.NOT_THERE
    if int(found["size"]) > max_bytes:
        return UnreadReason.TOO_LARGE
    return found["blob"].decode("ascii")


def _contents(store: GitDir, blobs: Sequence[str]) -> dict[str, bytes]:
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
