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
from patchwright.workers.intake.errors import InboxUnavailableError
from patchwright.workers.web.asking.door import WEB_SERVICE, RequestFormRoutes
from patchwright.workers.web.asking.form import FormInput, RequestedRun, validate_form, read_form
from patchwright.workers.web.asking.pace import MAX_PER_HOUR
from patchwright.workers.web.asking.pages import request_form_page, sign_in_first_page
from patchwright.workers.web.body import BodyTooLargeError, read_body

REQUEST_FORM_PATH: Final = "/requests/new"
_MAX_FORM_BYTES: Final = 256 * 1024
_SEE_OTHER: Final = 303
_NOT_OURS: Final = "This form is not of this page, or is too old. Please send it again."
_TOO_LARGE: Final = "That is more text than a request can have."
_TOO_OFTEN: Final = (
    f"You have sent {MAX_PER_HOUR} requests within an hour. Please wait a while."
)
_NOT_STORED: Final = "The request could not be stored just now. Please send it again."

log = structlog.get_logger(__name__)


def add_request_form(app: FastAPI, routes: RequestFormRoutes) -> None:
    @app.get("/", include_in_schema=False)
    async def home() -> Response:
        """Lead whoever opens the service's address to the form."""
        return RedirectResponse(f"{routes.prefix}{REQUEST_FORM_PATH}", _SEE_OTHER)

    @app.get(REQUEST_FORM_PATH, include_in_schema=False)
    def show(request: Request) -> Response:
        """Show the form for a request."""
        viewer = routes.find_viewer(request)
        if viewer is None:
            return _ask_to_sign_in(routes)
        where = request.query_params.get("where", "")[:300]
        return _form(routes, viewer, FormInput(where=where))

    @app.post(REQUEST_FORM_PATH, include_in_schema=False)
    async def ask(request: Request) -> Response:
        """Take a request, and go to the page of its run."""
        viewer = routes.find_viewer(request)
        if viewer is None:
            return _ask_to_sign_in(routes)
        try:
            body = await read_body(request, _MAX_FORM_BYTES)
        except BodyTooLargeError:
            typed = FormInput()
            return await run_in_threadpool(_form, routes, viewer, typed, _TOO_LARGE, 413)
        fields = {
            name: values[0]
            for name, values in parse_qs(body.decode("utf-8", "replace")).items()
        }
        typed, word = read_form(fields), routes.form_id(fields.get("check", ""), viewer)
        if not word:
            return await run_in_threadpool(_form, routes, viewer, typed, _NOT_OURS, 403)
        if not routes.rate_limit.take(viewer):
            return await run_in_threadpool(_form, routes, viewer, typed, _TOO_OFTEN, 429)
        judged = await run_in_threadpool(_validate, routes, viewer, typed)
        if isinstance(judged, str):
            return await run_in_threadpool(_form, routes, viewer, typed, judged, 422)
        return await _submit(routes, viewer, typed, judged, word)


def _validate(routes: RequestFormRoutes, viewer: Actor, typed: FormInput) -> RequestedRun | str:
    """Judge what can be told at once; who may start a run is for a worker to say."""
    judged = validate_form(typed, routes.forge, routes.site)
    if isinstance(judged, RequestedRun) and not routes.may_read(judged.repo, viewer):
        name = judged.repo.full_name
        return f"There is no repository {name}, or you may not read it."
    return judged


async def _submit(
    routes: RequestFormRoutes, viewer: Actor, typed: FormInput, wanted: RequestedRun, word: str
) -> Response:
    delivery = routes.make_delivery(wanted, viewer, word)
    try:
        stored = await asyncio.wrap_future(routes.submit(delivery))
    except InboxUnavailableError:
        return await run_in_threadpool(_form, routes, viewer, typed, _NOT_STORED, 503)
    bind_contextvars(delivery_id=delivery.id, **stored.ids)
    log.info("delivery_stored", service=WEB_SERVICE, verdict=stored.verdict)
    thread = routes.thread_of(wanted, word)
    job_id = stored.job_id or await run_in_threadpool(routes.find_job, thread)
    return RedirectResponse(f"{routes.prefix}/runs/{job_id}", _SEE_OTHER)


def _form(
    routes: RequestFormRoutes, viewer: Actor, typed: FormInput, problem: str = "", status: int = 200
) -> Response:
    return request_form_page(
        viewer.login,
        routes.new_form_token(viewer),
        routes.offer_to(viewer),
        typed=typed,
        problem=problem,
        status=status,
    )


def _ask_to_sign_in(routes: RequestFormRoutes) -> Response:
    back = quote(f"{routes.prefix}{REQUEST_FORM_PATH}", safe="")
    return sign_in_first_page(f"{routes.prefix}{routes.login_path}?next={back}")
