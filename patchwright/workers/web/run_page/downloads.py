"""A run to take away: its log as a file, and links for people without an account."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, StreamingResponse

from patchwright.core.text.redaction import Redactor
from patchwright.core.types.errors import SettingsError
from patchwright.resolver.job import Job
from patchwright.workers.accounts.principal import Principal
from patchwright.workers.runs.export import export_service_log, export_service_run
from patchwright.workers.runs.reader import RunReader
from patchwright.workers.store.run_links import MAX_OPEN_LINKS
from patchwright.workers.web.body import BodyTooLargeError, read_body
from patchwright.workers.web.forms import message_page
from patchwright.workers.web.run_access import link_actor
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
        return _download(pages, request, job_id, "json", _document)

    for path, act in (
        ("share", _share),
        ("links/revoke", _revoke),
        ("links/revoke-all", _revoke_all),
    ):
        route = app.post(f"/runs/{{job_id}}/{path}", include_in_schema=False)
        route(_on_form(pages, act))


@dataclass(frozen=True)
class _LinkForm:
    """A form of who may share the run; `word` is its own, the same if sent twice."""

    principal: Principal
    job: Job
    fields: Mapping[str, str]
    word: str


def _on_form(
    pages: RunPages, act: Callable[[RunPages, _LinkForm], Response]
) -> Callable[[Request, str], Awaitable[Response]]:
    """Return the function of an address; `act` is called in a thread."""

    async def receive(request: Request, job_id: str) -> Response:
        try:
            body = await read_body(request, _MAX_FORM_BYTES)
        except BodyTooLargeError:
            body = b""
        parsed = parse_qs(body.decode("utf-8", "replace"))
        fields = {name: values[0] for name, values in parsed.items()}

        def answer() -> Response:
            form = _check(pages, request, job_id, fields)
            return form if isinstance(form, Response) else act(pages, form)

        return await run_in_threadpool(answer)

    receive.__doc__ = act.__doc__
    return receive


_TYPES: Final = {"json": "application/json", "jsonl": "application/x-ndjson"}


def _document(reader: RunReader, job: Job, redactor: Redactor) -> Iterator[str]:
    # At once, so that what is missing is told before anything is sent.
    return iter((export_service_run(reader, job, redactor).model_dump_json(),))


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


def _check(
    pages: RunPages, request: Request, job_id: str, fields: Mapping[str, str]
) -> _LinkForm | Response:
    """Return the form, or the page that says why it does not count."""
    principal = pages.access.find_principal(request)
    job = pages.find(request, job_id)
    if job is None or principal is None:
        return pages.missing(request, job_id)
    word = pages.site.form_tokens.word_of(fields.get("check", ""), principal.key)
    if not word:
        text = "This form is not yours, or too old. Go back to the run and try again."
        return message_page("Nothing was changed", text, status=403)
    if not pages.access.may_share(principal, job):
        text = (
            "Who hands out a link gives others access. That takes the role “member” "
            "here, and the right to see the run without a link."
        )
        return message_page("You cannot share this run", text, status=403)
    return _LinkForm(principal, job, fields, word)


def _share(pages: RunPages, form: _LinkForm) -> Response:
    """Make a link that opens the run without signing in."""
    links, job = pages.access.links, form.job
    link = links.make(job, link_actor(form.principal), form.word)
    if link is None:
        text = f"This run has {MAX_OPEN_LINKS} open links. Take one back first."
        return message_page("Too many links", text, status=409)
    if not link.is_open(pages.clock.now()):
        # The form was sent again after its link was taken back.
        return _back(pages, job)
    log.info("run_shared", job_id=job.id)
    view, url = pages.view(job), links.url_of(link)
    return shared_page(pages.site, form.principal, view, link, url)


def _revoke(pages: RunPages, form: _LinkForm) -> Response:
    """Take one link to the run back."""
    return _take_back(pages, form, [form.fields.get("link", "")], "one")


def _revoke_all(pages: RunPages, form: _LinkForm) -> Response:
    """Take all links to the run back."""
    known = pages.access.links.open_of(form.job.id)
    return _take_back(pages, form, [one.id for one in known], "all")


def _take_back(
    pages: RunPages, form: _LinkForm, ids: Sequence[str], done: str
) -> Response:
    by = link_actor(form.principal)
    taken = pages.access.links.revoke(form.job, ids, by)
    log.info("run_links_revoked", job_id=form.job.id, count=len(taken))
    return _back(pages, form.job, f"?links={done}")


def _back(pages: RunPages, job: Job, query: str = "") -> Response:
    return RedirectResponse(f"{pages.site.prefix}/runs/{job.id}{query}#links", 303)
