"""Find work of the agent's that is not in its work tree: stashed, or committed aside.

Standard library only, Python 3.8 and newer.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Iterator, NamedTuple

from patchwright.sandbox.inside.git_commands import (
    AGENTS_OBJECTS,
    FOLDER,
    GITLINK,
    MERGED,
    REPO,
    STORE,
    Entries,
    agents_git,
    changes,
    files_of,
    git,
    has_merge,
    run_git,
)

BOTH_OBJECT_STORES = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(AGENTS_OBJECTS)}
MOST = 50
_LEFT_BEHIND = re.compile(
    rb"checkout: moving from ([0-9a-f]{64}|[0-9a-f]{40}) to ", re.MULTILINE
)


class StrayWork(NamedTuple):
    """Changes to the base: where they are, since when, and what they come to.

    What does not start from the base `is_apart`: it cannot simply be put on it.
    """

    reason: str
    name: bytes
    when: int
    entries: Entries
    is_apart: bool = False


def find_stray_work(base: str, tree: str) -> list[StrayWork]:
    """Return the work that is not in the tree, the newest last."""
    found = [*_worktrees(base), *_commits(base)]
    if not found:
        return []
    present = files_of(tree, BOTH_OBJECT_STORES)
    missing = [
        work
        for work in found[:MOST]
        if any(
            _is_missing(path, entry, present) for path, entry in work.entries.items()
        )
    ]
    return sorted(missing, key=lambda work: work.when)


def worktrees() -> dict[bytes, tuple[bytes, bytes]]:
    """Return the other work trees of the agent's repository: commit and branch."""
    found = {}
    for block in agents_git("worktree", "list", "--porcelain").split(b"\n\n"):
        facts = dict(line.partition(b" ")[::2] for line in block.splitlines())
        path = facts.get(b"worktree", b"")
        if path and os.path.isdir(path) and not os.path.samefile(path, REPO):
            head, branch = facts.get(b"HEAD", b""), facts.get(b"branch", b"")
            found[path] = (head, branch)
    return found


def _is_missing(path: bytes, entry: object, present: Entries) -> bool:
    old = present.get(path)
    if old is not None and old.mode == GITLINK:
        return False
    return old != entry


def _worktrees(base: str) -> Iterator[StrayWork]:
    for path, (head, _) in worktrees().items():
        index = {"GIT_INDEX_FILE": str(FOLDER / "aside.index"), **BOTH_OBJECT_STORES}
        place = ("--git-dir", STORE, "--work-tree", Path(os.fsdecode(path)))
        here = (*place, "-C", Path(os.fsdecode(path)))
        if run_git(*here, "read-tree", base, more=index).returncode:
            continue
        run_git(*here, "add", "--all", "--ignore-errors", ".", more=index)
        tree = run_git(*here, "write-tree", more=index).stdout.strip().decode()
        if not tree:
            continue
        entries = _files_alone(changes(base, tree, BOTH_OBJECT_STORES))
        when = max(_committed_at(head), int(os.stat(path).st_mtime))
        name = os.path.relpath(path, os.fsencode(REPO))
        yield StrayWork("worktree", name, when, entries)


def _commits(base: str) -> Iterator[StrayWork]:
    """Yield what was committed and is in no history that the work tree builds on."""
    known = [base, agents_git("rev-parse", "HEAD").strip().decode()]
    if has_merge():
        known.append(MERGED)
    shown = {branch for _, branch in worktrees().values()}
    for reason, name, commit in _candidates(shown):
        if any(_contains(other, commit) for other in known if other):
            continue
        start = _start(base, commit)
        entries = _files_alone(changes(start or base, commit, BOTH_OBJECT_STORES))
        if reason == "stash":
            entries.update(_untracked_of(commit))
        when = _committed_at(commit.encode())
        yield StrayWork(reason, name, when, entries, is_apart=start != base)


def _candidates(shown: set[bytes]) -> Iterator[tuple[str, bytes, str]]:
    stashed = agents_git("rev-list", "-g", "--max-count=20", "refs/stash").split()
    for number, commit in enumerate(stashed):
        yield "stash", b"stash@{%d}" % number, commit.decode()
    listed = ("for-each-ref", "--format=%(objectname) %(refname)", "refs/heads")
    tips = set()
    for line in agents_git(*listed).splitlines():
        commit, _, name = line.partition(b" ")
        tips.add(commit)
        if name not in shown:
            short = name[len(b"refs/heads/") :]
            yield "branch", short, commit.decode()
    for commit in _left_behind() - tips:
        yield "commit", commit[:12], commit.decode()


def _left_behind() -> set[bytes]:
    """Return commits that were checked out by their ids when the agent went elsewhere.

    Such a commit is on no branch, if it was made there.
    """
    try:
        log = (REPO / ".git" / "logs" / "HEAD").read_bytes()
    except OSError:
        return set()
    return set(_LEFT_BEHIND.findall(log))


def _contains(later: str, earlier: str) -> bool:
    asked = ("merge-base", "--is-ancestor", earlier, later)
    return run_git("--git-dir", STORE, *asked, more=BOTH_OBJECT_STORES).returncode == 0


def _start(base: str, commit: str) -> str:
    ran = run_git(
        "--git-dir", STORE, "merge-base", base, commit, more=BOTH_OBJECT_STORES
    )
    return ran.stdout.strip().decode()


def _committed_at(commit: bytes) -> int:
    asked = ("show", "--no-patch", "--format=%ct", commit)
    output = run_git("--git-dir", STORE, *asked, more=BOTH_OBJECT_STORES).stdout.strip()
    return int(output) if output.isdigit() else 0


def _untracked_of(stash: str) -> Entries:
    """Return the files that `git stash --include-untracked` has put beside."""
    asked = ("rev-parse", "--quiet", "--verify", f"{stash}^3")
    ran = run_git("--git-dir", STORE, *asked, more=BOTH_OBJECT_STORES)
    if ran.returncode:
        return {}
    return _files_alone(files_of(ran.stdout.strip().decode(), BOTH_OBJECT_STORES))


def _files_alone(entries: Entries) -> Entries:
    return {
        path: entry
        for path, entry in entries.items()
        if entry is None or entry.mode != GITLINK
    }


def copy_objects(work: StrayWork) -> None:
    """Copy what the work needs of the agent's objects, for `put` to name it."""
    blobs = [entry.blob for entry in work.entries.values() if entry]
    names = b"".join(blob + b"\n" for blob in blobs)
    packed = git(
        "--git-dir",
        STORE,
        "pack-objects",
        "--stdout",
        "-q",
        stdin=names,
        more=BOTH_OBJECT_STORES,
    )
    git("--git-dir", STORE, "unpack-objects", "-q", stdin=packed)
