"""The addresses of a run's page, and of what belongs to it."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse

from patchwright.core.events import types as ev
from patchwright.core.plugin import ServiceDirectory, ServiceProfile
from patchwright.core.system.clock import Clock
from patchwright.core.text.redaction import Redactor
from patchwright.core.types.base import JobId
from patchwright.core.types.threads import ThreadRef
from patchwright.core.types.work import BlockedRequest
from patchwright.resolver.job import Job, is_over
from patchwright.workers.accounts.principal import Principal
from patchwright.workers.runs.reader import EventSpan, RunDigest, RunReader
from patchwright.workers.web.frame import Site
from patchwright.workers.web.run_access import RunAccess
from patchwright.workers.web.run_page.actions import RunActions
from patchwright.workers.web.run_page.entries import event_entry
from patchwright.workers.web.run_page.html import (
    RunSharing,
    diff_page,
    event_page,
    missing_page,
    run_page,
)
from patchwright.workers.web.run_page.live import LiveUpdates
from patchwright.workers.web.run_page.steps import (
    read_steps,
    whole_steps,
)
from patchwright.workers.web.run_page.views import (
    KnownOfRun,
    RunView,
    StepsView,
    run_view,
)

_ID: Final = re.compile(r"[0-9A-Za-z-]{1,64}\Z")
_NUMBER: Final = re.compile(r"[1-9]\d{0,8}\Z")
_SEE_OTHER: Final = 303
_NOTHING: Final = RunDigest()
# What the page says after links were taken back, by a word in its address.
TAKEN_BACK: Final = {
    "one": "The link was taken back. It opens nothing any more.",
    "all": "All links were taken back. They open nothing any more.",
}
# More of one text than anybody reads on a page; the log that is downloaded has it all.
_MOST_EVENT_CHARS: Final = 400_000


@dataclass(frozen=True)
class RunPages:
    """What the pages work with.

    `site` has the frame of all pages. `threads_of` finds the threads that a run talks
    in. The `redactor` knows the secrets that no download may contain. `actions` are
    what people can do with a run.
    """

    reader: RunReader
    access: RunAccess
    live: LiveUpdates
    clock: Clock
    site: Site
    directory: ServiceDirectory
    threads_of: Callable[[Job], Sequence[ThreadRef]]
    redactor: Redactor
    actions: RunActions

    @property
    def forge(self) -> ServiceProfile:
        return self.directory.forge

    def find(self, request: Request, job_id: str) -> Job | None:
        """Return the run if it exists and the visitor may see it."""
        if not _ID.match(job_id):
            return None
        job = self.reader.jobs.load(JobId(job_id))
        return job if job and self.access.may_view(request, job) else None

    def view(self, job: Job, known: RunDigest = _NOTHING) -> RunView:
        """Return what the page shows; `known` is what the events say."""
        facts = KnownOfRun(
            summary=known.summary,
            costs=known.cost_by_step,
            blocked=_blocked(known),
            delivered=self.reader.delivered(job),
            diff=self.reader.diff(job),
            linked=tuple(self.threads_of(job)),
        )
        return run_view(job, facts, directory=self.directory, now=self.clock.now())

    def missing(self, request: Request, job_id: str) -> Response:
        """Say the same of what is not there and of what somebody may not see."""
        principal = self.access.find_principal(request)
        sign_in = "" if principal else self._login(job_id)
        title = self.forge.title
        return missing_page(self.site, principal, sign_in, title)

    def _login(self, job_id: str) -> str:
        site = self.site
        if not site.login_path or not _ID.match(job_id):
            return ""
        back = quote(f"{site.prefix}/runs/{job_id}", safe="")
        return f"{site.prefix}{site.login_path}?next={back}"


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
            return pages.missing(request, job_id)
        return _show(pages, request, job)

    @app.get("/runs/{job_id}/live", include_in_schema=False)
    async def live(request: Request, job_id: str) -> Response:
        """Send the new events of a run (server-sent events)."""
        viewer = await run_in_threadpool(_find_viewer, pages, request, job_id)
        if viewer is None:
            return Response(status_code=404)
        return pages.live.follow(viewer.job, _after(request), viewer.link_id)

    _add_parts(app, pages)


def _add_parts(app: FastAPI, pages: RunPages) -> None:
    """Add the pages that show a part of a run in full."""

    @app.get("/runs/{job_id}/diff", include_in_schema=False)
    def diff(request: Request, job_id: str) -> Response:
        """Show the whole change of a run, in one column or side by side."""
        job = pages.find(request, job_id)
        if job is None:
            return pages.missing(request, job_id)
        is_split = request.query_params.get("view") == "split"
        principal = pages.access.find_principal(request)
        return diff_page(pages.site, principal, pages.view(job), is_split=is_split)

    @app.get("/runs/{job_id}/events/{event_id}", include_in_schema=False)
    def event(request: Request, job_id: str, event_id: str) -> Response:
        """Show one event of a run with the whole of its text."""
        job = pages.find(request, job_id)
        found = _find_event(pages, job, event_id) if job else None
        entry = event_entry(found, _MOST_EVENT_CHARS) if found else None
        if job is None or entry is None:
            return pages.missing(request, job_id)
        principal = pages.access.find_principal(request)
        return event_page(pages.site, principal, pages.view(job), entry)


@dataclass(frozen=True)
class _RunViewer:
    """Somebody who may watch a run; `link_id` is the one link that lets them."""

    job: Job
    link_id: str = ""


def _find_viewer(pages: RunPages, request: Request, job_id: str) -> _RunViewer | None:
    job = pages.find(request, job_id)
    if job is None:
        return None
    link = pages.access.held_link(request, job)
    if link is None:
        return _RunViewer(job)
    principal = pages.access.find_principal(request)
    is_reader = pages.access.is_reader(principal, job)
    return _RunViewer(job) if is_reader else _RunViewer(job, link.id)


def _find_event(pages: RunPages, job: Job, event_id: str) -> ev.Event | None:
    if not _NUMBER.match(event_id):
        return None
    return pages.reader.event(job, pages.reader.span(job), int(event_id))


def _exchange_key(pages: RunPages, request: Request, job_id: str, key: str) -> Response:
    """Put the key away, and go to the address that may stay in a history."""
    link = pages.access.links.find(job_id, key)
    # Who may see the run anyway is not kept out by a link that opens nothing any more.
    if link is None and pages.find(request, job_id) is None:
        return pages.missing(request, job_id)
    # Relative to this address, whatever stands before it outside.
    response = RedirectResponse(f"./{job_id}", _SEE_OTHER)
    response.headers["Cache-Control"] = "no-store"
    response.headers["Referrer-Policy"] = "no-referrer"
    if link is not None:
        pages.access.keep_key(response, link, key)
    return response


def _show(pages: RunPages, request: Request, job: Job) -> Response:
    span = pages.reader.span(job)
    known = pages.reader.digest(job, span)
    principal = pages.access.find_principal(request)
    return run_page(
        pages.site,
        principal,
        pages.view(job, known),
        _steps(pages.reader, job, span, known, _before(request)),
        pages.actions.view(principal, job, sent=request.query_params.get("sent", "")),
        sharing=_sharing(pages, principal, job, request.query_params.get("links", "")),
    )


def _sharing(
    pages: RunPages, principal: Principal | None, job: Job, done: str
) -> RunSharing | None:
    """Return the links to a run, for who may hand them out and take them back."""
    if not pages.access.may_share(principal, job):
        return None
    links = pages.access.links.open_of(job.id)
    return RunSharing(links=links, note=TAKEN_BACK.get(done, ""))


def _steps(
    reader: RunReader,
    job: Job,
    span: EventSpan,
    known: RunDigest,
    before: int | None,
) -> StepsView:
    events = reader.page(job, span, before)
    if events and events[0].id > span.first:
        events = whole_steps(events)
    if not events:
        return StepsView(is_newest=before is None)
    first, is_newest = events[0].id, before is None
    earlier = known.count_replies(before=first)
    return StepsView(
        parts=read_steps(
            events, earlier, newest_is_open=is_newest and not is_over(job)
        ),
        before=first if first > span.first else None,
        is_newest=is_newest,
        last_id=events[-1].id,
    )


def _blocked(known: RunDigest) -> tuple[BlockedRequest, ...]:
    """Return what was blocked so far, by where it wanted to go."""
    return tuple(
        BlockedRequest(host=host, port=port, count=count)
        for (host, port), count in known.blocked.items()
    )


def _before(request: Request) -> int | None:
    wanted = request.query_params.get("before", "")
    return int(wanted) if _NUMBER.match(wanted) else None


def _after(request: Request) -> int:
    """Return the last event that the browser has: it says so when it comes again."""
    seen = request.headers.get("last-event-id") or request.query_params.get("after", "")
    return int(seen) if _NUMBER.match(seen) else 0
