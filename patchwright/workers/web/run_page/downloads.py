"""A run to take away: its log as a file, and a link for people without an account."""

from collections.abc import Callable, Iterator
from typing import Final
from urllib.parse import parse_qs

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse

from patchwright.core.text.redaction import Redactor
from patchwright.core.types.errors import SettingsError
from patchwright.resolver.job import Job
from patchwright.workers.runs.export import export_service_log, export_service_run
from patchwright.workers.runs.reader import RunReader
from patchwright.workers.web.body import BodyTooLargeError, read_body
from patchwright.workers.web.forms import message_page
from patchwright.workers.web.run_access import RUN_LINK_LIFETIME, make_run_link
from patchwright.workers.web.run_page.html import shared_page
from patchwright.workers.web.run_page.routes import RunPages

_MAX_FORM_BYTES: Final = 4_000

log = structlog.get_logger(__name__)


def add_run_downloads(app: FastAPI, pages: RunPages) -> None:
    @app.get("/runs/{job_id}/log.jsonl", include_in_schema=False)
    def events(request: Request, job_id: str) -> Response:
        """Send the log of a run, an event on each line."""
        return _download(pages, request, job_id, "jsonl", export_service_log)

    @app.get("/runs/{job_id}/trajectory.json", include_in_schema=False)
    def trajectory(request: Request, job_id: str) -> Response:
        """Send a run as the document that `replay` reads."""
        return _download(pages, request, job_id, "json", export_service_run)

    @app.post("/runs/{job_id}/share", include_in_schema=False)
    async def share(request: Request, job_id: str) -> Response:
        """Make a link that opens the run without signing in."""
        try:
            body = await read_body(request, _MAX_FORM_BYTES)
        except BodyTooLargeError:
            body = b""
        fields = parse_qs(body.decode("utf-8", "replace"))
        check = fields.get("check", [""])[0]
        return await run_in_threadpool(_share, pages, request, job_id, check)


_TYPES: Final = {"json": "application/json", "jsonl": "application/x-ndjson"}


def _download(
    pages: RunPages,
    request: Request,
    job_id: str,
    kind: str,
    export: Callable[[RunReader, Job, Redactor], Iterator[str]],
) -> Response:
    job = pages.find(request, job_id)
    if job is None:
        return pages.missing(request, job_id)
    try:
        parts = export(pages.reader, job, pages.redactor)
    except SettingsError:
        title = "Nothing to download yet"
        text = "The run has not begun, so it has no log. Try again when it works."
        return message_page(title, text, status=404)
    headers = {
        "Cache-Control": "no-store",
        "Content-Disposition": f'attachment; filename="run-{job.id[:8]}.{kind}"',
        "X-Content-Type-Options": "nosniff",
    }
    # A long log is sent as it is read: it need not fit into memory.
    return StreamingResponse(parts, 200, headers, _TYPES[kind])


def _share(pages: RunPages, request: Request, job_id: str, check: str) -> Response:
    principal = pages.access.find_principal(request)
    job = pages.find(request, job_id)
    if job is None or principal is None:
        return pages.missing(request, job_id)
    if not pages.site.form_tokens.word_of(check, principal.key):
        text = "This form is not yours, or too old. Go back to the run and try again."
        return message_page("Nothing was shared", text, status=403)
    if not pages.access.may_share(principal, job):
        text = (
            "Who hands out a link gives others access. That takes the role “member” "
            "here, and the right to see the run without a link."
        )
        return message_page("You cannot share this run", text, status=403)
    log.info("run_shared", job_id=job.id)
    access, now = pages.access, pages.clock.now()
    link = make_run_link(access.public_url, access.secret, job.id, now)
    return shared_page(
        pages.site, principal, pages.view(job), link, RUN_LINK_LIFETIME.days
    )
