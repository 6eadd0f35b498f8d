"""Carry commits in and out of a sandbox; this program runs inside, with git and Python.

Standard library only, Python 3.8 and newer. Prints one JSON object as its last line.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import NamedTuple

from patchwright.sandbox.inside.git_commands import (
    FOLDER,
    GITLINK,
    IDENTITY,
    MERGED,
    REPO,
    STORE,
    Entries,
    TransferError,
    changes,
    files_of,
    git,
    has_merge,
    in_store,
    in_tree,
    last_words,
    run_git,
    set_index_entries,
)
from patchwright.sandbox.inside.left_out_files import (
    SCRATCH_FILES,
    Survey,
    add_all,
    add_forced,
    conflicts_in,
    find_gitlinks,
    find_ignored,
    ignored_among,
    mark_prepared,
    moved_submodules,
    read_added,
    survey,
)
from patchwright.sandbox.inside.stray_work import (
    StrayWork,
    copy_objects,
    find_stray_work,
    worktrees,
)

ARRIVING = FOLDER / "base.bundle"
LEAVING = FOLDER / "head.bundle"
SHALLOW = FOLDER / "shallow"
SHA256_LENGTH = 64
# What `git merge` answers when it leaves something to resolve.
# https://git-scm.com/docs/git-merge
CONFLICTS = 1


class ExportRequest(NamedTuple):
    """Which work to transfer, and how much of it.

    With `is_last` everything that stays in the sandbox is found and named. With
    `takes_stray_work` a stash or another branch counts if the work tree has no change.
    Files above `max_file_bytes` are named and left out.
    """

    base: str
    message: str
    max_bytes: int
    max_file_bytes: int
    is_last: bool
    takes_stray_work: bool


def check_out(sha: str, branch: str) -> dict[str, object]:
    """Make the repository that the agent sees, without any remote."""
    kind = "sha256" if len(sha) == SHA256_LENGTH else "sha1"
    made = ("init", "--quiet", "--bare", "--template=")
    # Older versions of git know one format and have no name for it.
    named = [f"--object-format={kind}"] if kind != "sha1" else []
    git(*made, *named, STORE)
    if SHALLOW.exists():
        SHALLOW.rename(STORE / "shallow")
    in_store("bundle", "unbundle", ARRIVING)
    in_store("update-ref", f"refs/heads/{branch}", sha)
    in_store("symbolic-ref", "HEAD", f"refs/heads/{branch}")
    clone_into_repo(branch)
    git("-C", REPO, "remote", "remove", "origin")
    git("-C", REPO, "config", "user.name", IDENTITY[0])
    git("-C", REPO, "config", "user.email", IDENTITY[1])
    for git_dir in (STORE, REPO / ".git"):
        exclude(git_dir)
    ARRIVING.unlink()
    return {"head": sha}


def clone_into_repo(branch: str) -> None:
    """Clone; what the sandbox shows there already, such as node_modules, stays."""
    clone = ("clone", "--quiet", "--no-tags", "--template=", "--branch", branch)
    if not REPO.exists() or not os.listdir(REPO):
        git(*clone, STORE, REPO)
        return
    aside = FOLDER / "clone"
    git(*clone, "--no-checkout", STORE, aside)
    (aside / ".git").rename(REPO / ".git")
    aside.rmdir()
    git("-C", REPO, "reset", "--quiet", "--hard")


def begin_merge(sha: str) -> dict[str, object]:
    """Leave a merge of the commit under way in the work tree, conflicts and all."""
    fetch_into_repo(sha)
    merge = ("merge", "--quiet", "--no-commit", "--no-ff", sha)
    ran = run_git("-C", REPO, *merge)
    if ran.returncode not in (0, CONFLICTS):
        raise TransferError(f"the merge could not begin: {last_words(ran)}")
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


def export(order: ExportRequest) -> dict[str, object]:
    """Bundle the work tree as one commit on top of the base, unless nothing changed.

    What git refuses is skipped and named, and so is what would make it too large.
    """
    begin_index(order.base)
    links, seen = find_gitlinks(), survey()
    apart = [*links, *seen.nested, *seen.unreadable]
    left = [*add_all(apart), *add_forced(apart)]
    tree = write_tree()
    taken = None
    work = find_stray_work(order.base, tree) if order.is_last else []
    if work and order.takes_stray_work and not changes(order.base, tree):
        taken = take_stray_work(order.base, work)
    left += drop_largest(order)
    tree = write_tree()
    answer: dict[str, object] = {"head": pack(order, tree)}
    if taken is not None:
        answer["taken_from"] = {"reason": taken.reason, "path": printable(taken.name)}
    if order.is_last:
        left += list_left_behind(seen, links)
        left += [(one.name, one.reason) for one in work if one is not taken]
        added = read_added(order.base, tree)
        left += [(path, "ignored") for path in find_ignored(added, apart)]
        left += [(path, "too-large") for path in too_large(order, tree)]
        answer["conflicts"] = [printable(path) for path in conflicts_in(added)]
    answer["left_out"] = [
        {"path": printable(path), "reason": reason} for path, reason in unique(left)
    ]
    return answer


def begin_index(base: str) -> None:
    if not os.access(REPO, os.R_OK | os.W_OK | os.X_OK):
        REPO.chmod(0o755)
    for name in ("index", "index.lock"):
        (STORE / name).unlink(missing_ok=True)
    in_tree("read-tree", base)
    track_merged_files(base)


def write_tree() -> str:
    return in_tree("write-tree").strip().decode()


def take_stray_work(base: str, work: list[StrayWork]) -> StrayWork | None:
    """Use the agent's newest stash or branch, if it is based on the base commit."""
    chosen = [one for one in work if not one.is_apart]
    if not chosen or has_merge():
        return None
    copy_objects(chosen[-1])
    in_tree("read-tree", base)
    set_index_entries(chosen[-1].entries)
    return chosen[-1]


def pack(order: ExportRequest, tree: str) -> str:
    """Make the commit and its bundle; return the commit, or nothing for no change."""
    base = order.base
    if tree == in_store("rev-parse", f"{base}^{{tree}}").strip().decode():
        return ""
    head = in_store("commit-tree", tree, "-p", base, "-m", order.message)
    in_store("update-ref", "HEAD", head.strip().decode())
    in_store("bundle", "create", LEAVING, f"{base}..HEAD")
    size = LEAVING.stat().st_size
    if size > order.max_bytes:
        raise TransferError(
            f"the change is too large: {size} bytes packed, {order.max_bytes} are "
            "allowed"
        )
    return head.strip().decode()


def drop_largest(order: ExportRequest) -> list[tuple[bytes, str]]:
    """Leave the largest files as they were, until the rest can be carried."""
    changed = changes(order.base, write_tree())
    sizes = sizes_of(changed)
    dropped = []
    while sizes and sum(sizes.values()) > order.max_bytes:
        largest = max(sizes, key=lambda path: sizes[path])
        dropped.append(largest)
        del sizes[largest]
    if dropped:
        before = files_of(order.base)
        set_index_entries({path: before.get(path) for path in dropped})
    return [(path, "too-large") for path in dropped]


def too_large(order: ExportRequest, tree: str) -> list[bytes]:
    sizes = sizes_of(changes(order.base, tree))
    return [path for path, size in sizes.items() if size > order.max_file_bytes]


def sizes_of(changed: Entries) -> dict[bytes, int]:
    """Return the sizes of files that the host does not have already."""
    merged = set(files_of(MERGED).values()) if has_merge() else set()
    new = {
        path: entry.blob
        for path, entry in changed.items()
        if entry and entry.mode != GITLINK and entry not in merged
    }
    asked = b"".join(blob + b"\n" for blob in new.values())
    output = in_store("cat-file", "--batch-check=%(objectsize)", stdin=asked)
    return {path: int(size) for path, size in zip(new, output.split())}


def list_left_behind(
    seen: Survey, links: dict[bytes, bytes]
) -> list[tuple[bytes, str]]:
    """Name the places that git was not shown."""
    trees = {os.path.relpath(path, os.fsencode(REPO)) for path in worktrees()}
    nested = [path for path in seen.nested if path not in trees | links.keys()]
    ignored = ignored_among([*nested, *seen.special])
    return [
        *((path, "nested-repository") for path in nested if path not in ignored),
        *((path, "unreadable") for path in seen.unreadable),
        *((path, "not-a-file") for path in seen.special if path not in ignored),
        *((path, "submodule") for path in moved_submodules(links)),
    ]


def unique(left: list[tuple[bytes, str]]) -> list[tuple[bytes, str]]:
    return list(dict.fromkeys(left))


def printable(path: bytes) -> str:
    return path.decode("utf-8", "backslashreplace")


def track_merged_files(base: str) -> None:
    """Count the new files of a merge as tracked, whatever `.gitignore` says of them."""
    if not has_merge():
        return
    old = files_of(base)
    set_index_entries(
        {path: one for path, one in files_of(MERGED).items() if path not in old}
    )


def exclude(git_dir: Path) -> None:
    info = git_dir / "info"
    info.mkdir(exist_ok=True)
    patterns = "".join(f"{pattern}\n" for pattern in SCRATCH_FILES)
    (info / "exclude").write_text(patterns, encoding="utf-8")


def read_export_request(words: list[str]) -> ExportRequest:
    base, message, max_bytes, max_file_bytes, is_last, takes_stray_work = words
    return ExportRequest(
        base=base,
        message=message,
        max_bytes=int(max_bytes),
        max_file_bytes=int(max_file_bytes),
        is_last=is_last == "last",
        takes_stray_work=takes_stray_work == "aside",
    )


def main() -> None:
    words = sys.argv[1:]
    try:
        if words[0] == "check-out":
            result = check_out(words[1], words[2])
        elif words[0] == "begin-merge":
            result = begin_merge(words[1])
        elif words[0] == "mark-merge":
            result = mark_merge(words[1])
        elif words[0] == "mark-prepared":
            result = mark_prepared()
        else:
            result = export(read_export_request(words[1:]))
    except (TransferError, OSError) as error:
        result = {"error": str(error)}
    print(json.dumps(result))  # noqa: T201 - this is how it answers
