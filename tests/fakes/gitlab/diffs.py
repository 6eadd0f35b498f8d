"""What git says of a merge request: its commits, its diff, and whether it merges."""

import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.fakes.github import bare
from tests.fakes.github.comparison import (
    ChangedFile,
    GitCommit,
    changed_files,
    commit_of,
    commits_between,
)
from tests.fakes.gitlab.state import World
from tests.fakes.gitlab.thread_state import Thread


@dataclass(frozen=True)
class MergeStatus:
    """Whether it can be merged, in the older words and in the newer ones."""

    merge_status: str
    detailed: str
    has_conflicts: bool


@dataclass(frozen=True)
class DiffRefs:
    """The commits that a diff lies between, empty where there are none."""

    base_sha: str
    start_sha: str
    head_sha: str


def head_sha(world: World, thread: Thread) -> str | None:
    folder = world.projects[thread.project].git
    return bare.find_commit(folder, thread.head_ref)


def head_commit(world: World, thread: Thread) -> GitCommit | None:
    sha = head_sha(world, thread)
    return commit_of(world.projects[thread.project].git, sha) if sha else None


def diff_refs(world: World, thread: Thread) -> DiffRefs | None:
    folder = world.projects[thread.project].git
    head = head_sha(world, thread)
    start = thread.proposed.start_sha
    if head is None or not start:
        return None
    return DiffRefs(merge_base(folder, start, head) or start, start, head)


def files_of(world: World, thread: Thread) -> list[ChangedFile]:
    refs = diff_refs(world, thread)
    folder = world.projects[thread.project].git
    return changed_files(folder, refs.base_sha, refs.head_sha) if refs else []


def commits_of(world: World, thread: Thread) -> list[GitCommit]:
    """Return the commits to be merged, oldest first."""
    refs = diff_refs(world, thread)
    folder = world.projects[thread.project].git
    return commits_between(folder, refs.base_sha, refs.head_sha) if refs else []


@cache
def merge_base(folder: Path, one: str, other: str) -> str | None:
    found = subprocess.run(
        [bare.git_binary(), "-C", str(folder), "merge-base", one, other],
        capture_output=True,
        check=False,
        env=bare.git_environment(),
    )
    return found.stdout.decode().strip() or None


def merge_status(world: World, thread: Thread) -> MergeStatus:
    """Return how it stands; finding out takes so many looks as `pondered` says.

    https://docs.gitlab.com/api/merge_requests/#merge-status
    """
    left = world.pondered.get(thread.id, 0)
    if left:
        return MergeStatus("checking", "checking", has_conflicts=False)
    conflicts = _conflicts(world, thread)
    older = "cannot_be_merged" if conflicts else "can_be_merged"
    return MergeStatus(older, _detail(world, thread, conflicts=conflicts), conflicts)


def _detail(world: World, thread: Thread, *, conflicts: bool) -> str:
    if not thread.is_open:
        return "not_open"
    if head_sha(world, thread) is None or not commits_of(world, thread):
        return "commits_status"
    if conflicts:
        return "conflict"
    if thread.is_draft:
        return "draft_status"
    states = (
        state for (where, _), state in world.review_states.items() if where == thread.id
    )
    if "requested_changes" in states:
        return "requested_changes"
    given = sum(one.thread == thread.id for one in world.approvals)
    needed = world.projects[thread.project].approvals_required
    return "not_approved" if given < needed else "mergeable"


def _conflicts(world: World, thread: Thread) -> bool:
    project = world.projects[thread.project]
    target = bare.find_commit(
        project.git, f"refs/heads/{thread.proposed.target_branch}"
    )
    head = head_sha(world, thread)
    if target is None or head is None or not thread.is_open:
        return False
    return not _merges(project.git, target, head)


@cache
def _merges(folder: Path, target: str, head: str) -> bool:
    merged = subprocess.run(
        [bare.git_binary(), "merge-tree", "--write-tree", target, head],
        cwd=folder,
        capture_output=True,
        check=False,
        env=bare.git_environment(),
    )
    return merged.returncode == 0


def diff_json(file: ChangedFile) -> dict[str, object]:
    """Return one changed file as the API shows it."""
    return {
        "old_path": file.old_path or file.path,
        "new_path": file.path,
        "a_mode": "0" if file.status == "added" else "100644",
        "b_mode": "0" if file.status == "removed" else "100644",
        "diff": f"{file.patch}\n" if file.patch else "",
        "new_file": file.status == "added",
        "renamed_file": file.status == "renamed",
        "deleted_file": file.status == "removed",
        "generated_file": False,
        "collapsed": False,
        "too_large": False,
    }
