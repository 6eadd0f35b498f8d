"""Who may read a repository, and so see the pages of the runs in it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Final
from urllib.parse import urlsplit

import structlog
from fastapi import Request, Response

from patchwright.core.clock import Clock
from patchwright.core.errors import ServiceError
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import RepoRef
from patchwright.workers.access_tokens import has_bearer_token, link_expiry
from patchwright.workers.store.job import Job

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
    """Allows access by a link, by the administrator's token, or by a sign-in.

    Without a `secret` no link counts, without an `admin_token` no bearer.
    `find_viewer` tells from a request who is signed in; `may_read` and `may_write` may
    take a while. What `is_private` shows what was said where not everybody may read who
    can read the repository: it takes the right to write.
    """

    secret: bytes | None
    admin_token: str
    public_url: str
    clock: Clock
    find_viewer: Callable[[Request], Actor | None]
    may_read: Callable[[RepoRef, Actor], bool]
    may_write: Callable[[RepoRef, Actor], bool]
    is_private: Callable[[Job], bool]

    @property
    def prefix(self) -> str:
        """The path under which people reach us."""
        return urlsplit(self.public_url).path

    def may_view(self, request: Request, job: Job) -> bool:
        held = request.cookies.get(RUN_COOKIE, "")
        return (
            self.opens_until(job.id, held) is not None
            or has_bearer_token(
                request.headers.get("authorization", ""), self.admin_token
            )
            or self._is_reader(request, job)
        )

    def opens_until(self, job_id: str, key: str) -> datetime | None:
        if not self.secret:
            return None
        return link_expiry(self.secret, job_id, key, self.clock.now())

    def keep_key(self, response: Response, job_id: str, key: str) -> None:
        """Have the browser hold the key, so that it need not stay in the address."""
        until = self.opens_until(job_id, key)
        if until is None:
            return
        response.set_cookie(
            RUN_COOKIE,
            key,
            max_age=int((until - self.clock.now()).total_seconds()),
            path=f"{self.prefix}/runs/{job_id}",
            secure=self.public_url.startswith("https:"),
            httponly=True,
            samesite="lax",
        )

    def _is_reader(self, request: Request, job: Job) -> bool:
        viewer, repo = self.find_viewer(request), job.trigger.place
        if viewer is None or repo is None or viewer.service != repo.forge:
            return False
        may_view = self.may_write if self.is_private(job) else self.may_read
        return may_view(repo, viewer)
