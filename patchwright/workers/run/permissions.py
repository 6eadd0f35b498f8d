"""What people may do on the forge, with answers remembered for a minute."""

from collections.abc import Callable
from typing import Final

import structlog

from patchwright.core.forge import Forge
from patchwright.core.types.errors import ServiceError
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import RepoRef
from patchwright.resolver.repository import JudgeAccess, RepositoryAccess

REMEMBER_S: Final = 60.0

Permissions = Callable[[RepoRef, Actor], Permission | None]

log = structlog.get_logger(__name__)


def find_permission(forge: Forge, repo: RepoRef, actor: Actor) -> Permission | None:
    """Return what the forge says, or None if it does not say."""
    try:
        return forge.fetch_permission(repo, actor)
    except ServiceError as error:
        log.warning("permission_unknown", reason=error.reason, login=actor.login)
        return None


def make_access_check(person: Actor, permission: Permissions) -> JudgeAccess:
    """Return what tells whether that person may read a repository."""

    def access(repo: RepoRef) -> RepositoryAccess:
        found = permission(repo, person)
        if found is None:
            return RepositoryAccess.UNKNOWN
        may = found.allows(Permission.READ)
        return RepositoryAccess.READABLE if may else RepositoryAccess.UNREADABLE

    return access


class PermissionCache:
    """Answers of a forge, each good for a minute.

    For those who only look for something: whatever starts, steers or writes asks anew.
    What could not be found out is not remembered.
    """

    def __init__(self, forge: Forge, monotonic: Callable[[], float]) -> None:
        self._forge, self._monotonic = forge, monotonic
        self._known: dict[tuple[RepoRef, Actor], tuple[float, Permission]] = {}

    def permission(self, repo: RepoRef, actor: Actor) -> Permission | None:
        now = self._monotonic()
        known = self._known.get((repo, actor))
        if known is not None and now - known[0] < REMEMBER_S:
            return known[1]
        found = find_permission(self._forge, repo, actor)
        if found is not None:
            self._known[repo, actor] = now, found
        return found
