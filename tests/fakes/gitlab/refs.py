"""Branches and tags of a repository, as git lists them."""

from pathlib import Path

from tests.fakes.github import bare

BRANCH = "refs/heads/"
TAG = "refs/tags/"


def list_refs(folder: Path) -> dict[str, str]:
    """Return where each branch and tag stands, by its full name."""
    listed = bare.git(
        folder,
        "for-each-ref",
        "--format=%(refname) %(objectname)",
        BRANCH.rstrip("/"),
        TAG.rstrip("/"),
    )
    lines = [line.partition(" ") for line in listed.decode().splitlines()]
    return {ref: sha for ref, _, sha in lines}


def list_branches(folder: Path) -> list[str]:
    names = (ref for ref in list_refs(folder) if ref.startswith(BRANCH))
    return [name.removeprefix(BRANCH) for name in names]


def resolve(folder: Path, name: str) -> str | None:
    """Return the commit that a branch, a tag or an object name stands for."""
    for ref in (f"{BRANCH}{name}", f"{TAG}{name}"):
        if found := bare.find_commit(folder, ref):
            return found
    # Anything else could be an expression of git's, which the API does not take.
    is_name = name == "HEAD" or all(one in "0123456789abcdef" for one in name)
    return bare.find_commit(folder, name) if name and is_name else None
