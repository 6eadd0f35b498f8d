"""Who may read a repository, or write to it, and so see the runs in it."""

from collections.abc import Callable
from datetime import datetime, timedelta
from threading import Lock
from typing import Final

import structlog

from patchwright.core.clock import Clock
from patchwright.core.errors import ServiceError
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import RepoRef

FetchPermission = Callable[[RepoRef, Actor], Permission]

_REMEMBERED_FOR: Final = timedelta(seconds=60)
_MOST_KNOWN: Final = 10_000

log = structlog.get_logger(__name__)


class RepositoryAccessCache:
    """Asks with our own credential, and remembers each answer for a minute.

    `fetch_permission` is a forge's. It may take a while: call it from a thread. `least`
    is what somebody must be allowed.
    """

    def __init__(
        self,
        fetch_permission: FetchPermission,
        clock: Clock,
        least: Permission = Permission.READ,
    ) -> None:
        self._fetch_permission, self._least = fetch_permission, least
        self._clock = clock
        self._known: dict[tuple[RepoRef, Actor], tuple[bool, datetime]] = {}
        self._lock = Lock()

    def is_allowed(self, repo: RepoRef, actor: Actor) -> bool:
        """Tell whether they may; not knowing means no, and is asked again."""
        known = self._find(repo, actor)
        if known is not None:
            return known
        try:
            permission = self._fetch_permission(repo, actor)
        except ServiceError as error:
            log.warning("permission_unknown", repo=str(repo), reason=error.reason)
            return False
        answer = permission.allows(self._least)
        self._remember(repo, actor, answer)
        return answer

    def _find(self, repo: RepoRef, actor: Actor) -> bool | None:
        with self._lock:
            answer, until = self._known.get((repo, actor), (False, self._clock.now()))
        return answer if self._clock.now() < until else None

    def _remember(self, repo: RepoRef, actor: Actor, answer: bool) -> None:  # noqa: FBT001 - what is remembered
        with self._lock:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[repo, actor] = (answer, self._clock.now() + _REMEMBERED_FOR)
