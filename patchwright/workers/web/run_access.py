"""Who may see the pages of runs: readers of a repository, and who has a link."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from threading import Lock
from typing import Final
from urllib.parse import urlsplit

import structlog
from fastapi import Request, Response

from patchwright.core.system.clock import Clock
from patchwright.core.types.errors import ServiceError
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import RepoRef
from patchwright.resolver.job import Job
from patchwright.workers.accounts.principal import Principal, Role
from patchwright.workers.runs.listing import Sight
from patchwright.workers.store.run_links import LinkActor, RunLink, RunLinkStore

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


RUN_COOKIE: Final = "patchwright_run"


@dataclass(frozen=True)
class RunAccess:
    """Allows access by a link, or to whom the forge or their role here allows it.

    `links` know which of them are open. `find_principal` tells who sends a request;
    `may_read` and `may_write` may take a while. What `is_private` shows what was said
    where not everybody may read who can read the repository: it takes the right to
    write.
    """

    links: RunLinkStore
    find_principal: Callable[[Request], Principal | None]
    may_read: Callable[[RepoRef, Actor], bool]
    may_write: Callable[[RepoRef, Actor], bool]
    is_private: Callable[[Job], bool]

    @property
    def prefix(self) -> str:
        """The path under which people reach us."""
        return urlsplit(self.links.public_url).path

    def may_view(self, request: Request, job: Job) -> bool:
        return self.held_link(request, job) is not None or self.is_reader(
            self.find_principal(request), job
        )

    def held_link(self, request: Request, job: Job) -> RunLink | None:
        """Return the link to a run by which a browser has come, if it is still open."""
        held = request.cookies.get(RUN_COOKIE, "")
        return self.links.find(job.id, held) if held else None

    def is_reader(self, principal: Principal | None, job: Job) -> bool:
        """Tell whether somebody may see a run without a link to it."""
        if principal is None:
            return False
        if principal.is_admin:
            return True
        is_private = self.is_private(job)
        return self._may_see(principal.identity, job.trigger.place, is_private)

    def sight_of(self, principal: Principal) -> Sight | None:
        """Return what tells which runs somebody may see; None for an admin: all."""
        if principal.is_admin:
            return None
        return Sight(partial(self._may_see, principal.identity))

    def steerer(self, principal: Principal | None, job: Job) -> Actor | None:
        """Return in whose name somebody may steer a run, None if they may not.

        A link lets people look, and no more.
        """
        if principal is None or not principal.role.allows(Role.MEMBER):
            return None
        if self._is_allowed(self.may_write, principal.identity, job.trigger.place):
            return principal.identity
        return principal.as_operator if principal.is_admin else None

    def may_share(self, principal: Principal | None, job: Job) -> bool:
        """Tell whether somebody may hand out links, and take them back.

        A link itself lets nobody do so.
        """
        is_member = principal is not None and principal.role.allows(Role.MEMBER)
        return self.links.can_make and is_member and self.is_reader(principal, job)

    def keep_key(self, response: Response, link: RunLink, key: str) -> None:
        """Have the browser hold the key, so that it need not stay in the address."""
        left = link.expires_at - self.links.clock.now()
        response.set_cookie(
            RUN_COOKIE,
            key,
            max_age=int(left.total_seconds()),
            path=f"{self.prefix}/runs/{link.job_id}",
            secure=self.links.public_url.startswith("https:"),
            httponly=True,
            samesite="lax",
        )

    def _may_see(
        self,
        identity: Actor | None,
        repo: RepoRef | None,
        is_private: bool,  # noqa: FBT001 - a `MaySee`
    ) -> bool:
        may_view = self.may_write if is_private else self.may_read
        return self._is_allowed(may_view, identity, repo)

    def _is_allowed(
        self,
        may: Callable[[RepoRef, Actor], bool],
        identity: Actor | None,
        repo: RepoRef | None,
    ) -> bool:
        if identity is None or repo is None or identity.service != repo.forge:
            return False
        return may(repo, identity)


def link_actor(principal: Principal) -> LinkActor:
    """Return somebody as the list of links and the audit name them."""
    return LinkActor(
        key=principal.key,
        name=principal.name or principal.as_operator.login,
        account_id=principal.account_id or "",
    )
