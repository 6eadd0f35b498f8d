"""Which names of branches and refs may be used at all."""

from pathlib import Path

from patchwright.core.errors import GitError
from patchwright.integrations.git.command import call_git


def check_branch(branch: str) -> str:
    """Return the full ref of a branch; raises GitError for a name git would refuse."""
    if branch.startswith(("-", "refs/")) or branch == "HEAD":
        raise GitError(f"{branch!r} is not a usable branch name")
    return check_ref(f"refs/heads/{branch}")


def check_ref(ref: str) -> str:
    # https://git-scm.com/docs/git-check-ref-format
    if "\0" in ref or not ref.startswith("refs/"):
        raise GitError(f"{ref!r} is not a usable name for a ref")
    if call_git(["check-ref-format", ref], cwd=Path("/")).exit_code != 0:
        raise GitError(f"{ref!r} is not a usable name for a ref")
    return ref
