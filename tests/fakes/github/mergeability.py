"""Whether a pull request can be merged, which GitHub finds out when it is asked.

https://docs.github.com/rest/pulls/pulls#get-a-pull-request
"""

import subprocess
from functools import cache
from pathlib import Path

from tests.fakes.github.bare import OBJECT_NAME, git_binary, git_environment
from tests.fakes.github.state import Issue, World


def ponder(world: World, full_name: str, number: int, *, times: int) -> None:
    """Let GitHub not know it yet, for so many looks at the pull request."""
    with world.lock:
        world.pondered[full_name.lower(), number] = times


def find_mergeable(world: World, issue: Issue, base: str, head: str) -> bool | None:
    """Return None while it is not known, whereupon a later look may tell."""
    key = (issue.repo.lower(), issue.number)
    left = world.pondered.get(key, 0)
    if left:
        world.pondered[key] = left - 1
        return None
    folder = world.repo(issue.repo).git
    named = OBJECT_NAME.fullmatch(base) and OBJECT_NAME.fullmatch(head)
    return (_merges_always if named else _merges)(folder, base, head)


def _merges(folder: Path, base: str, head: str) -> bool:
    merged = subprocess.run(
        [git_binary(), "merge-tree", "--write-tree", base, head],
        cwd=folder,
        capture_output=True,
        check=False,
        env=git_environment(),
    )
    return merged.returncode == 0


# What is said of named commits stays true.
_merges_always = cache(_merges)


def mergeable_state(*, draft: bool, mergeable: bool | None) -> str:
    if mergeable is None:
        return "unknown"
    if not mergeable:
        return "dirty"
    return "draft" if draft else "clean"
