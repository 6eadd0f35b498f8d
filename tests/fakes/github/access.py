"""Decide who may see and do what in a repository."""

from dataclasses import dataclass

from tests.fakes.github.auth import Caller, CallerKind
from tests.fakes.github.exchange import RefusedError, not_found
from tests.fakes.github.state import Grant, Issue, Repo, Role, World

NOBODY = Grant(role=Role.NONE, role_name="none")
READER = Grant(role=Role.READ, role_name="read")
OWNER = Grant(role=Role.ADMIN, role_name="admin")
LEVELS = ("read", "write", "admin")


@dataclass(frozen=True)
class Need:
    """What an act takes: of an App one of these permissions, of a person a role."""

    resources: tuple[str, ...]
    level: str
    role: Role


READ_METADATA = Need(("metadata",), "read", Role.READ)
READ_CONTENTS = Need(("contents",), "read", Role.READ)
WRITE_CONTENTS = Need(("contents",), "write", Role.WRITE)
READ_ISSUE = Need(("issues",), "read", Role.READ)
WRITE_ISSUE = Need(("issues",), "write", Role.READ)
TRIAGE_ISSUE = Need(("issues",), "write", Role.TRIAGE)
READ_PULL = Need(("pull_requests",), "read", Role.READ)
WRITE_PULL = Need(("pull_requests",), "write", Role.READ)


def on_thread(need: Need, issue: Issue) -> Need:
    """Widen a need on issues: for a pull request either permission will do."""
    if issue.pull is None:
        return need
    return Need((*need.resources, "pull_requests"), need.level, need.role)


def grant_of(repo: Repo, login: str) -> Grant:
    """Return what an account may do there; everybody reads what is public."""
    if login.lower() == repo.owner.lower():
        return OWNER
    granted = repo.grants.get(login.lower())
    return granted or (NOBODY if repo.private else READER)


def visible_repo(world: World, caller: Caller, full_name: str) -> Repo:
    """Return the repository; what the caller may not see does not exist for them."""
    repo = world.repos.get(full_name.lower())
    if repo is None or not _sees(caller, repo):
        raise not_found()
    return repo


def require(caller: Caller, repo: Repo, need: Need) -> None:
    """Raise a 403 where the caller may see the repository but not do this."""
    if not may(caller, repo, need):
        raise forbidden(caller)


def may(caller: Caller, repo: Repo, need: Need) -> bool:
    if caller.token is not None and caller.kind is not CallerKind.PERSONAL:
        return _token_allows(caller, repo, need)
    if caller.user is None:
        return _public_allows(repo, need)
    if caller.kind is CallerKind.APP:
        return False
    return grant_of(repo, caller.user.login).role >= need.role


def forbidden(caller: Caller) -> RefusedError:
    if caller.kind in (CallerKind.INSTALLATION, CallerKind.ACTIONS, CallerKind.APP):
        return RefusedError(403, "Resource not accessible by integration")
    if caller.kind is CallerKind.ANONYMOUS:
        return RefusedError(401, "Requires authentication")
    return RefusedError(403, "Must have admin rights to Repository.")


def _token_allows(caller: Caller, repo: Repo, need: Need) -> bool:
    if not _covers(caller, repo):
        return _public_allows(repo, need)
    held = caller.token.permissions if caller.token else {}
    return any(
        name in held and LEVELS.index(held[name]) >= LEVELS.index(need.level)
        for name in need.resources
    )


def _public_allows(repo: Repo, need: Need) -> bool:
    return not repo.private and need.level == "read" and need.role <= Role.READ


def _covers(caller: Caller, repo: Repo) -> bool:
    scope = caller.token.repositories if caller.token else None
    return scope is not None and repo.full_name.lower() in scope


def _sees(caller: Caller, repo: Repo) -> bool:
    if not repo.private:
        return True
    if caller.kind in (CallerKind.INSTALLATION, CallerKind.ACTIONS):
        return _covers(caller, repo)
    if caller.user is None:
        return False
    return grant_of(repo, caller.user.login).role >= Role.READ
