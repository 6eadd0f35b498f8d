"""Repositories: made, forked, shared, protected, committed to."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from tests.fakes.github import bare
from tests.fakes.github.acts.accounts import ensure_account
from tests.fakes.github.acts.pulls import follow_heads
from tests.fakes.github.exchange import RefusedError
from tests.fakes.github.hook_state import Hook
from tests.fakes.github.state import AccountKind, Grant, Repo, Role, World


def add_repository(
    world: World,
    full_name: str,
    *,
    default_branch: str,
    private: bool,
    files: Mapping[str, bare.Content],
) -> Repo:
    """Make a repository with one commit, or an empty one where there are no files."""
    repo = _lay_out(world, full_name, default_branch=default_branch, private=private)
    if files:
        message = "Initial commit"
        commit(world, repo, default_branch, files, message=message, author=repo.owner)
    return repo


def fork(world: World, full_name: str, owner: str) -> Repo:
    """Copy a repository, with all branches, under another account."""
    parent = world.repo(full_name)
    forked = _lay_out(
        world,
        f"{owner}/{parent.name}",
        default_branch=parent.default_branch,
        private=parent.private,
    )
    bare.fetch(forked.git, parent.git, "+refs/heads/*:refs/heads/*")
    return world.put_repo(replace(forked, parent=parent.full_name))


def grant(
    world: World, full_name: str, login: str, role: str, role_name: str | None
) -> None:
    repo = world.repo(full_name)
    granted = Grant(role=Role[role.upper()], role_name=role_name or role)
    world.put_repo(replace(repo, grants={**repo.grants, login.lower(): granted}))


def protect_branch(world: World, full_name: str, branch: str) -> None:
    """From now on that branch changes through pull requests alone."""
    repo = world.repo(full_name)
    world.put_repo(replace(repo, protected=repo.protected | {branch}))


def add_hook(world: World, full_name: str, secret: str) -> int:
    hook = Hook(id=world.next_id(), repo=full_name.lower(), secret=secret)
    world.hooks[hook.id] = hook
    return hook.id


def commit(
    world: World,
    repo: Repo,
    branch: str,
    files: Mapping[str, bare.Content],
    *,
    message: str,
    author: str,
) -> str:
    """Commit on a branch, as a push of its author would, and return the name."""
    sha = bare.commit(
        repo.git,
        branch,
        files,
        start=repo.default_branch,
        message=message,
        author=author,
        at=world.clock.now(),
    )
    follow_heads(world, repo, author)
    return sha


def rename_default_branch(world: World, repo: Repo, name: str, actor: str) -> Repo:
    """Give the default branch another name; git alone does not find the old one.

    https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-branches-in-your-repository/renaming-a-branch
    """
    bare.git(repo.git, "branch", "-m", repo.default_branch, name)
    bare.git(repo.git, "symbolic-ref", "HEAD", f"refs/heads/{name}")
    renamed = world.put_repo(replace(repo, default_branch=name))
    follow_heads(world, renamed, actor)
    return renamed


def delete_reference(world: World, repo: Repo, ref: str, actor: str) -> None:
    if bare.find_commit(repo.git, ref) is None:
        raise RefusedError(422, "Reference does not exist")
    if ref.removeprefix("refs/heads/") in repo.protected:
        raise RefusedError(422, "Cannot delete a protected branch")
    bare.git(repo.git, "update-ref", "-d", ref)
    follow_heads(world, repo, actor)


def _lay_out(
    world: World, full_name: str, *, default_branch: str, private: bool
) -> Repo:
    owner, _, name = full_name.partition("/")
    folder = Path(world.folder, "repositories", owner.lower(), f"{name.lower()}.git")
    bare.create(folder, default_branch)
    repo = Repo(
        id=world.next_id(),
        owner=ensure_account(world, owner, AccountKind.ORGANIZATION).login,
        name=name,
        default_branch=default_branch,
        private=private,
        git=folder,
        created_at=world.clock.now(),
    )
    return world.put_repo(repo)
