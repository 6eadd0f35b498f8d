"""The addresses at which people ask for something on a page."""

import asyncio
from typing import Final
from urllib.parse import parse_qs, quote

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse
from structlog.contextvars import bind_contextvars

from patchwright.core.types.people import Actor
from patchwright.workers.intake.errors import IntakeUnavailableError
from patchwright.workers.web.asking.door import SERVICE, AskingDoor
from patchwright.workers.web.asking.form import Typed, Wanted, judge_form, read_form
from patchwright.workers.web.asking.pace import MOST
from patchwright.workers.web.asking.pages import form_page, stranger_page
from patchwright.workers.web.body import BodyTooLargeError, read_body

PATH: Final = "/requests/new"
_MAX_FORM_BYTES: Final = 256 * 1024
_SEE_OTHER: Final = 303
_NOT_OURS: Final = "This form is not of this page, or is too old. Please send it again."
_TOO_LARGE: Final = "That is more text than a request can have."
_TOO_OFTEN: Final = (
    f"You have sent {MOST} requests within an hour. Please wait a while."
)
_NOT_STORED: Final = "The request could not be stored just now. Please send it again."

log = structlog.get_logger(__name__)


def add_asking(app: FastAPI, door: AskingDoor) -> None:
    @app.get("/", include_in_schema=False)
    async def home() -> Response:
        """Lead whoever opens the service's address to the form."""
        return RedirectResponse(f"{door.prefix}{PATH}", _SEE_OTHER)

    @app.get(PATH, include_in_schema=False)
    def show(request: Request) -> Response:
        """Show the form for a request."""
        viewer = door.find_viewer(request)
        if viewer is None:
            return _stranger(door)
        where = request.query_params.get("where", "")[:300]
        return _form(door, viewer, Typed(where=where))

    @app.post(PATH, include_in_schema=False)
    async def ask(request: Request) -> Response:
        """Take a request, and go to the page of its run."""
        viewer = door.find_viewer(request)
        if viewer is None:
            return _stranger(door)
        try:
            body = await read_body(request, _MAX_FORM_BYTES)
        except BodyTooLargeError:
            typed = Typed()
            return await run_in_threadpool(_form, door, viewer, typed, _TOO_LARGE, 413)
        fields = {
            name: values[0]
            for name, values in parse_qs(body.decode("utf-8", "replace")).items()
        }
        typed, word = read_form(fields), door.word_of(fields.get("check", ""), viewer)
        if not word:
            return await run_in_threadpool(_form, door, viewer, typed, _NOT_OURS, 403)
        if not door.pace.take(viewer):
            return await run_in_threadpool(_form, door, viewer, typed, _TOO_OFTEN, 429)
        judged = await run_in_threadpool(_judge, door, viewer, typed)
        if isinstance(judged, str):
            return await run_in_threadpool(_form, door, viewer, typed, judged, 422)
        return await _take(door, viewer, typed, judged, word)


def _judge(door: AskingDoor, viewer: Actor, typed: Typed) -> Wanted | str:
    """Judge what can be told at once; who may start a run is for a worker to say."""
    judged = judge_form(typed, door.forge, door.site)
    if isinstance(judged, Wanted) and not door.may_read(judged.repo, viewer):
        name = judged.repo.full_name
        return f"There is no repository {name}, or you may not read it."
    return judged


async def _take(
    door: AskingDoor, viewer: Actor, typed: Typed, wanted: Wanted, word: str
) -> Response:
    delivery = door.make_delivery(wanted, viewer, word)
    try:
        stored = await asyncio.wrap_future(door.submit(delivery))
    except IntakeUnavailableError:
        return await run_in_threadpool(_form, door, viewer, typed, _NOT_STORED, 503)
    bind_contextvars(delivery_id=delivery.id, **stored.ids)
    log.info("delivery_stored", service=SERVICE, verdict=stored.verdict)
    thread = door.thread_of(wanted, word)
    job_id = stored.job_id or await run_in_threadpool(door.find_job, thread)
    return RedirectResponse(f"{door.prefix}/runs/{job_id}", _SEE_OTHER)


def _form(
    door: AskingDoor, viewer: Actor, typed: Typed, problem: str = "", status: int = 200
) -> Response:
    return form_page(
        viewer.login,
        door.new_check(viewer),
        door.offer_to(viewer),
        typed=typed,
        problem=problem,
        status=status,
    )


def _stranger(door: AskingDoor) -> Response:
    back = quote(f"{door.prefix}{PATH}", safe="")
    return stranger_page(f"{door.prefix}{door.login_path}?next={back}")
