"""The addresses of a run's page."""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse

from patchwright.core.plugin import ServiceProfile
from patchwright.core.system.clock import Clock
from patchwright.core.types.base import JobId
from patchwright.resolver.job import Job
from patchwright.workers.runs.reader import EventSpan, RunReader
from patchwright.workers.web.pages.access import RunAccess
from patchwright.workers.web.run_page.entries import event_entry
from patchwright.workers.web.run_page.html import missing_page, run_page
from patchwright.workers.web.run_page.live import LiveUpdates
from patchwright.workers.web.run_page.views import EventsView, run_view
from patchwright.workers.web.site.frame import Site

_ID: Final = re.compile(r"[0-9A-Za-z-]{1,64}\Z")
_NUMBER: Final = re.compile(r"[1-9]\d{0,8}\Z")
_SEE_OTHER: Final = 303


@dataclass(frozen=True)
class RunPages:
    """What the pages work with.

    `site` has the frame of all pages, and the `forge` has pages of its own.
    """

    reader: RunReader
    access: RunAccess
    live: LiveUpdates
    clock: Clock
    site: Site
    forge: ServiceProfile

    def find(self, request: Request, job_id: str) -> Job | None:
        """Return the run if it exists and the visitor may see it."""
        if not _ID.match(job_id):
            return None
        job = self.reader.jobs.load(JobId(job_id))
        return job if job and self.access.may_view(request, job) else None


def add_run_pages(app: FastAPI, pages: RunPages) -> None:
    # Not async, as database and forge may let it wait: FastAPI gives it a thread.
    @app.get("/runs/{job_id}", include_in_schema=False)
    def show(request: Request, job_id: str) -> Response:
        """Show the page of a run."""
        key = request.query_params.get("key")
        if key is not None:
            return _exchange_key(pages, request, job_id, key)
        job = pages.find(request, job_id)
        if job is None:
            return _missing(pages, request, job_id)
        return _show(pages, request, job)

    @app.get("/runs/{job_id}/live", include_in_schema=False)
    async def live(request: Request, job_id: str) -> Response:
        """Send the new events of a run (server-sent events)."""
        job = await run_in_threadpool(pages.find, request, job_id)
        if job is None:
            return Response(status_code=404)
        return pages.live.follow(job, _after(request))


def _exchange_key(pages: RunPages, request: Request, job_id: str, key: str) -> Response:
    """Put the key away, and go to the address that may stay in a history."""
    if pages.access.opens_until(job_id, key) is None:
        return _missing(pages, request, job_id)
    # Relative to this address, whatever stands before it outside.
    response = RedirectResponse(f"./{job_id}", _SEE_OTHER)
    response.headers["Cache-Control"] = "no-store"
    response.headers["Referrer-Policy"] = "no-referrer"
    pages.access.keep_key(response, job_id, key)
    return response


def _missing(pages: RunPages, request: Request, job_id: str) -> Response:
    """Say the same of what is not there and of what somebody may not see."""
    principal = pages.access.find_principal(request)
    sign_in = "" if principal else _login(pages, job_id)
    return missing_page(pages.site, principal, sign_in, pages.forge.title)


def _show(pages: RunPages, request: Request, job: Job) -> Response:
    reader = pages.reader
    span = reader.span(job)
    view = run_view(
        job,
        reader.summarize(job, span),
        reader.delivered(job),
        reader.diff(job),
        forge=pages.forge,
        now=pages.clock.now(),
    )
    events = _events(reader, job, span, _before(request))
    return run_page(pages.site, pages.access.find_principal(request), view, events)


def _events(
    reader: RunReader, job: Job, span: EventSpan, before: int | None
) -> EventsView:
    events = reader.page(job, span, before)
    if not events:
        return EventsView(is_newest=before is None)
    return EventsView(
        entries=tuple(entry for one in events if (entry := event_entry(one))),
        before=events[0].id if events[0].id > span.first else None,
        is_newest=before is None,
        last_id=events[-1].id,
    )


def _login(pages: RunPages, job_id: str) -> str:
    site = pages.site
    if not site.login_path or not _ID.match(job_id):
        return ""
    back = quote(f"{site.prefix}/runs/{job_id}", safe="")
    return f"{site.prefix}{site.login_path}?next={back}"


def _before(request: Request) -> int | None:
    wanted = request.query_params.get("before", "")
    return int(wanted) if _NUMBER.match(wanted) else None


def _after(request: Request) -> int:
    """Return the last event that the browser has: it says so when it comes again."""
    seen = request.headers.get("last-event-id") or request.query_params.get("after", "")
    return int(seen) if _NUMBER.match(seen) else 0
