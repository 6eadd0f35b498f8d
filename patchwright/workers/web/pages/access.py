"""Who may see a run's page."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import urlsplit

from fastapi import Request, Response

from patchwright.core.clock import Clock
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import RepoRef
from patchwright.workers.bearer import has_bearer_token
from patchwright.workers.run_links import link_expiry
from patchwright.workers.store.job import Job

RUN_COOKIE: Final = "patchwright_run"


@dataclass(frozen=True)
class RunAccess:
    """Lets in by a link, by the administrator's token, or by who is signed in.

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
            or has_bearer_token(request.headers.get("authorization", ""), self.admin_token)
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
