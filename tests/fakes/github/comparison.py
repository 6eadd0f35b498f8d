"""What lies between two commits of a repository, as git tells it."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.fakes.github.bare import OBJECT_NAME, current_name, git

STATUS = {
    "A": "added",
    "C": "copied",
    "D": "removed",
    "M": "modified",
    "R": "renamed",
    "T": "changed",
}
COMMIT_FIELDS = ("%H", "%T", "%P", "%an", "%ae", "%aI", "%cn", "%ce", "%cI", "%B")
SEPARATOR = "\x1f"


@dataclass(frozen=True, kw_only=True)
class ChangedFile:
    """One file of a diff; `patch` is None where git calls it binary or unchanged."""

    path: str
    old_path: str | None
    status: str
    blob: str
    additions: int
    deletions: int
    patch: str | None


@dataclass(frozen=True, kw_only=True)
class Signature:
    name: str
    email: str
    date: str


@dataclass(frozen=True, kw_only=True)
class GitCommit:
    sha: str
    tree: str
    parents: tuple[str, ...]
    author: Signature
    committer: Signature
    message: str


def count_commits(folder: Path, base: str, head: str) -> int:
    return int(_ask(folder, "rev-list", "--count", f"{base}..{head}"))


def commits_between(folder: Path, base: str, head: str) -> list[GitCommit]:
    """Return the commits of head that base lacks, oldest first."""
    return _log(folder, "--reverse", f"{base}..{head}")


def commit_of(folder: Path, sha: str) -> GitCommit:
    return _log(folder, "-1", sha)[0]


def changed_files(folder: Path, base: str, head: str) -> list[ChangedFile]:
    """Return what head changed since it left base."""
    span = f"{base}...{head}"
    numbers = _ask(
        folder, "diff", "-M", "-z", "--raw", "--numstat", "--abbrev=40", span
    )
    patches = _ask(folder, "diff", "-M", span).decode(errors="replace")
    pieces = re.split(r"^diff --git .*\n", patches, flags=re.MULTILINE)[1:]
    fields = numbers.decode(errors="surrogateescape").split("\0")
    return _join(fields, [_hunks(piece) for piece in pieces])


def _ask(folder: Path, *question: str) -> bytes:
    """Ask git about the range that comes last, once if it is between two commits."""
    base, dots, head = re.split(r"(\.{2,3}|$)", question[-1], maxsplit=1)
    span = dots.join(current_name(folder, ref) for ref in (base, head) if ref)
    is_settled = all(OBJECT_NAME.fullmatch(one) for one in re.split(r"\.{2,3}", span))
    return (_ask_once if is_settled else git)(folder, *question[:-1], span)


@cache
def _ask_once(folder: Path, *question: str) -> bytes:
    return git(folder, *question)


def _join(fields: list[str], hunks: list[str | None]) -> list[ChangedFile]:
    """Read git's two lists, raw lines and then counts, which go in the same order."""
    changes: list[tuple[str, str, str, str | None]] = []
    while fields[0].startswith(":"):
        _, _, _, blob, letter = fields.pop(0).split(" ")
        old = fields.pop(0) if letter[0] in "RC" else None
        changes.append((letter[0], blob, fields.pop(0), old))
    files = []
    for (letter, blob, path, old), patch in zip(changes, hunks, strict=True):
        added, removed, _ = fields.pop(0).split("\t", 2)
        if old is not None:
            del fields[:2]
        files.append(
            ChangedFile(
                path=path,
                old_path=old,
                status=STATUS[letter],
                blob=blob,
                additions=0 if added == "-" else int(added),
                deletions=0 if removed == "-" else int(removed),
                patch=patch,
            )
        )
    return files


def _hunks(piece: str) -> str | None:
    start = piece.find("@@ ") if piece.startswith("@@ ") else piece.find("\n@@ ") + 1
    return piece[start:].removesuffix("\n") if start else None


def _log(folder: Path, *selection: str) -> list[GitCommit]:
    layout = "%x1f".join(COMMIT_FIELDS)
    # Names must not be rewritten by a .mailmap that the repository brings.
    listed = _ask(folder, "log", "-z", "--no-mailmap", f"--format={layout}", *selection)
    text = listed.decode(errors="replace")
    return [_read_commit(entry) for entry in text.split("\0") if entry]


def _read_commit(entry: str) -> GitCommit:
    fields = entry.split(SEPARATOR, len(COMMIT_FIELDS) - 1)
    sha, tree, parents, author, email, date, name, address, when, message = fields
    return GitCommit(
        sha=sha,
        tree=tree,
        parents=tuple(parents.split()),
        author=Signature(name=author, email=email, date=date),
        committer=Signature(name=name, email=address, date=when),
        message=message.rstrip("\n"),
    )
