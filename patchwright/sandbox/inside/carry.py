"""Carry commits in and out of a sandbox; this file runs inside, with git and Python.

It keeps a repository of its own beside itself. Whatever is done to the work tree's
`.git` (hooks, filters, a rebase half way, its removal) changes nothing here.

Standard library only, Python 3.8 and newer. Prints one JSON object as its last line.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
REPO = FOLDER.parent / "repo"
STORE = FOLDER / "store.git"
ARRIVING = FOLDER / "base.bundle"
LEAVING = FOLDER / "head.bundle"

IDENTITY = ("patchwright", "patchwright@localhost")
GITLINK = b"160000"
MERGED = "refs/patchwright/merged"
# What `git merge` answers when it leaves something to resolve.
# https://git-scm.com/docs/git-merge
CONFLICTS = 1

# What builds and tools leave behind, where the repository's own .gitignore forgets it.
# Only files that git does not track yet are left out by this.
RUBBISH = (
    ".venv/",
    "venv/",
    "node_modules/",
    "__pycache__/",
    "*.pyc",
    ".pytest_cache/",
    ".mypy_cache/",
    ".ruff_cache/",
    ".tox/",
    ".nox/",
    ".coverage",
    ".hypothesis/",
    "*.egg-info/",
    ".gradle/",
    ".DS_Store",
    ".patchwright-*",
)


class CarryError(Exception):
    """Something that the host should tell people about."""


def check_out(sha: str, branch: str) -> dict[str, object]:
    """Make the repository that the agent sees, without any remote."""
    git("init", "--quiet", "--bare", "--template=", STORE)
    in_store("bundle", "unbundle", ARRIVING)
    in_store("update-ref", f"refs/heads/{branch}", sha)
    in_store("symbolic-ref", "HEAD", f"refs/heads/{branch}")
    git("clone", "--quiet", "--no-tags", "--template=", "--branch", branch, STORE, REPO)
    git("-C", REPO, "remote", "remove", "origin")
    git("-C", REPO, "config", "user.name", IDENTITY[0])
    git("-C", REPO, "config", "user.email", IDENTITY[1])
    for git_dir in (STORE, REPO / ".git"):
        exclude(git_dir)
    ARRIVING.unlink()
    return {"head": sha}


def begin_merge(sha: str) -> dict[str, object]:
    """Leave a merge of the commit under way in the work tree, conflicts and all."""
    fetch_into_repo(sha)
    merge = ("merge", "--quiet", "--no-commit", "--no-ff", sha)
    ran = call("-C", REPO, *merge)
    if ran.returncode not in (0, CONFLICTS):
        raise CarryError(f"the merge could not begin: {last_words(ran)}")
    return {"head": sha}


def mark_merge(sha: str) -> dict[str, object]:
    """Say that a merge is under way whose work the tree has already."""
    fetch_into_repo(sha)
    git("-C", REPO, "update-ref", "MERGE_HEAD", sha)
    return {"head": sha}


def fetch_into_repo(sha: str) -> None:
    in_store("update-ref", MERGED, sha)
    fetch = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head")
    git("-C", REPO, *fetch, STORE, MERGED)


def export(base: str, max_bytes: int, message: str) -> dict[str, object]:
    """Bundle the work tree as one commit on top of `base`, unless nothing changed."""
    for left in ("index", "index.lock"):
        (STORE / left).unlink(missing_ok=True)
    in_tree("read-tree", base)
    know_merged(base)
    kept = find_gitlinks() + find_nested_repositories()
    left_out = [b":(top,exclude,literal)" + path for path in kept]
    in_tree("add", "--all", "--", ":(top)", *left_out)
    tree = in_tree("write-tree").strip()
    if tree == in_tree("rev-parse", f"{base}^{{tree}}").strip():
        return {"head": ""}
    head = in_tree("commit-tree", tree, "-p", base, "-m", message).strip().decode()
    in_store("update-ref", "HEAD", head)
    in_store("bundle", "create", LEAVING, f"{base}..HEAD")
    size = LEAVING.stat().st_size
    if size > max_bytes:
        raise CarryError(
            f"the change is too large: {size} bytes packed, {max_bytes} are allowed"
        )
    return {"head": head}


def know_merged(base: str) -> None:
    """Count the new files of a merge as tracked, whatever `.gitignore` says of them."""
    if call("--git-dir", STORE, "rev-parse", "--quiet", "--verify", MERGED).returncode:
        return
    new = ("diff-tree", "-r", "-z", "--no-renames", "--diff-filter=A", base, MERGED)
    fields = iter(in_store(*new).split(b"\0"))
    lines = []
    for head, path in zip(fields, fields):
        _, mode, _, blob, _ = head.split(b" ")
        if mode != GITLINK:
            lines.append(mode + b" " + blob + b"\t" + path + b"\0")
    index_info = ("update-index", "-z", "--add", "--index-info")
    git("--git-dir", STORE, *index_info, stdin=b"".join(lines))


def find_gitlinks() -> list[bytes]:
    """Return where submodules are; their commits change on request only."""
    entries = in_tree("ls-files", "--stage", "-z").split(b"\0")
    return [entry.partition(b"\t")[2] for entry in entries if entry.startswith(GITLINK)]


def find_nested_repositories() -> list[bytes]:
    """Return the clones in the work tree, which git would add as new submodules."""
    root = os.fsencode(REPO)
    passed_over = {os.fsencode(name.rstrip("/")) for name in RUBBISH}
    nested, waiting = [], [root]
    # Not `os.walk`: before Python 3.12 it goes no deeper than calls may be nested.
    while waiting:
        folder = waiting.pop()
        names = list_folder(folder)
        if folder != root and b".git" in names:
            nested.append(os.path.relpath(folder, root))
        else:
            kept = (name for name in names if name not in passed_over | {b".git"})
            waiting += [b"/".join((folder, name)) for name in kept if names[name]]
    return nested


def list_folder(folder: bytes) -> dict[bytes, bool]:
    """Return what is in a folder, and what of it is one; git sees no links as such."""
    try:
        with os.scandir(folder) as entries:
            return {one.name: one.is_dir(follow_symlinks=False) for one in entries}
    except OSError:
        # It is closed to us, or deeper than a path can say; git tells of that.
        return {}


def exclude(git_dir: Path) -> None:
    info = git_dir / "info"
    info.mkdir(exist_ok=True)
    patterns = "".join(f"{pattern}\n" for pattern in RUBBISH)
    (info / "exclude").write_text(patterns, encoding="utf-8")


def in_store(*words: str | Path) -> bytes:
    return git("--git-dir", STORE, *words)


def in_tree(*words: str | bytes | Path) -> bytes:
    return git("--git-dir", STORE, "--work-tree", REPO, "-C", REPO, *words)


def git(*words: str | bytes | Path, stdin: bytes = b"") -> bytes:
    ran = call(*words, stdin=stdin)
    if ran.returncode != 0:
        raise CarryError(f"git failed in the sandbox: {last_words(ran)}")
    return ran.stdout


def last_words(ran: subprocess.CompletedProcess[bytes]) -> str:
    return ran.stderr.decode("utf-8", "replace").strip()[-1000:]


def call(
    *words: str | bytes | Path, stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    name, email = IDENTITY
    environment = {
        "PATH": os.environ["PATH"],
        # No settings but those of our own repository.
        "HOME": str(FOLDER),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": name,
        "GIT_AUTHOR_EMAIL": email,
        "GIT_COMMITTER_NAME": name,
        "GIT_COMMITTER_EMAIL": email,
    }
    try:
        return subprocess.run(
            ["git", *words],
            env=environment,
            input=stdin,
            capture_output=True,
            check=False,
        )
    except FileNotFoundError as error:
        raise CarryError(
            "the sandbox has no git; choose an image that has it, or install it"
        ) from error


def main(words: list[str]) -> None:
    try:
        if words[0] == "check-out":
            result = check_out(words[1], words[2])
        elif words[0] == "begin-merge":
            result = begin_merge(words[1])
        elif words[0] == "mark-merge":
            result = mark_merge(words[1])
        else:
            result = export(words[1], int(words[2]), words[3])
    except (CarryError, OSError) as error:
        result = {"error": str(error)}
    print(json.dumps(result))  # noqa: T201 - this is how it answers


if __name__ == "__main__":
    main(sys.argv[1:])
