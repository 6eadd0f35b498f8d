"""The two repositories in a sandbox: the agent's own, and the one that carries it out.

The second lies beside the first. Whatever is done to the agent's `.git` (hooks,
filters, a rebase half way, its removal) changes nothing in it.

Standard library only, Python 3.8 and newer.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Dict, Mapping, NamedTuple, Optional

FOLDER = Path(sys.argv[0]).resolve().parent
REPO = FOLDER.parent / "repo"
STORE = FOLDER / "store.git"
# What the agent has committed is read from here, and never written.
AGENTS_OBJECTS = REPO / ".git" / "objects"
MERGED = "refs/patchwright/merged"
IDENTITY = ("patchwright", "patchwright@localhost")
GITLINK = b"160000"


class TransferError(Exception):
    """Something that the host should tell people about."""


class TreeEntry(NamedTuple):
    """A file of a tree: its mode and its object, as git writes them."""

    mode: bytes
    blob: bytes


# Paths with what is there; None for a path that is removed.
Entries = Dict[bytes, Optional[TreeEntry]]


def in_store(*words: str | bytes | Path, stdin: bytes = b"") -> bytes:
    return git("--git-dir", STORE, *words, stdin=stdin)


def in_tree(*words: str | bytes | Path, stdin: bytes = b"") -> bytes:
    return git(*TREE, *words, stdin=stdin)


TREE = ("--git-dir", STORE, "--work-tree", REPO, "-C", REPO)


def agents_git(*words: str | bytes | Path) -> bytes:
    """Ask the agent's own git; what it cannot tell is nothing."""
    ran = run_git("--git-dir", REPO / ".git", "-c", "core.fsmonitor=", *words)
    return ran.stdout if ran.returncode == 0 else b""


def git(
    *words: str | bytes | Path, stdin: bytes = b"", more: Mapping[str, str] = {}
) -> bytes:
    ran = run_git(*words, stdin=stdin, more=more)
    if ran.returncode != 0:
        raise TransferError(f"git failed in the sandbox: {last_words(ran)}")
    return ran.stdout


def last_words(ran: subprocess.CompletedProcess[bytes]) -> str:
    return ran.stderr.decode("utf-8", "replace").strip()[-1000:]


def run_git(
    *words: str | bytes | Path,
    stdin: bytes = b"",
    more: Mapping[str, str] = {},
) -> subprocess.CompletedProcess[bytes]:
    """Run git; `more` are variables for this call alone."""
    try:
        return subprocess.run(
            ["git", *words],
            env={**variables(), **more},
            input=stdin,
            capture_output=True,
            check=False,
        )
    except FileNotFoundError as error:
        raise TransferError(
            "the sandbox has no git; choose an image that has it, or install it"
        ) from error


def read_some(most: int, *words: str | bytes | Path) -> bytes:
    """Return the beginning of what git writes."""
    command = ["git", *words]
    with subprocess.Popen(
        command, env=variables(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        if process.stdout is None:
            return b""
        read = process.stdout.read(most)
        process.kill()
        return read


def variables() -> dict[str, str]:
    name, email = IDENTITY
    return {
        "PATH": os.environ["PATH"],
        # No settings but those of our own repository.
        "HOME": str(FOLDER),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": name,
        "GIT_AUTHOR_EMAIL": email,
        "GIT_COMMITTER_NAME": name,
        "GIT_COMMITTER_EMAIL": email,
        "LC_ALL": "C",
    }


def changes(old: str, new: str, more: Mapping[str, str] = {}) -> Entries:
    """Return what differs from one tree to another, as the second has it."""
    words = ("diff-tree", "-r", "-z", "--no-renames", "--raw", "--no-abbrev", old, new)
    fields = iter(git("--git-dir", STORE, *words, more=more).split(b"\0"))
    found: Entries = {}
    for head, path in zip(fields, fields):
        _, mode, _, blob, status = head.split(b" ")
        found[path] = None if status == b"D" else TreeEntry(mode, blob)
    return found


def files_of(tree: str, more: Mapping[str, str] = {}) -> Entries:
    """Return every file of a tree."""
    words = ("ls-tree", "-r", "-z", "--full-tree", tree)
    found: Entries = {}
    for line in git("--git-dir", STORE, *words, more=more).split(b"\0"):
        head, _, path = line.partition(b"\t")
        if path:
            mode, _, blob = head.split(b" ")
            found[path] = TreeEntry(mode, blob)
    return found


def set_index_entries(entries: Entries) -> None:
    """Set paths of the index that is carried out; submodules stay where they are."""
    length = len(in_store("hash-object", "--stdin").strip())
    gone = TreeEntry(b"0", b"0" * length)
    lines = [
        b"%s %s\t%s\0" % (*(entry or gone), path)
        for path, entry in entries.items()
        if entry is None or entry.mode != GITLINK
    ]
    in_store("update-index", "-z", "--add", "--index-info", stdin=b"".join(lines))


def has_merge() -> bool:
    asked = ("rev-parse", "--quiet", "--verify", MERGED)
    return run_git("--git-dir", STORE, *asked).returncode == 0


def is_within(path: bytes, folders: list[bytes]) -> bool:
    return any(path == one or path.startswith(one + b"/") for one in folders)
