"""The form on which people request a run in a browser."""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from urllib.parse import parse_qs

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse
from structlog.contextvars import bind_contextvars

from patchwright.core.plugin import ServiceProfile
from patchwright.core.system.clock import Clock
from patchwright.core.types.base import JobId, Value
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, RepoRef
from patchwright.core.webhook import Delivery, InboxResult, InboxUnavailableError
from patchwright.workers.accounts.principal import Principal, Role
from patchwright.workers.runs.requests import (
    MAX_TEXT_CHARS,
    RequestedRun,
    RequestInput,
    make_request_delivery,
    requested_thread,
    validate_request,
)
from patchwright.workers.web.body import BodyTooLargeError, read_body
from patchwright.workers.web.frame import Site
from patchwright.workers.web.rate_limit import AttemptLimit

WEB_SERVICE: Final = "web"


def read_form(fields: Mapping[str, str]) -> RequestInput:
    return RequestInput(
        where=fields.get("where", "").strip(),
        # Browsers end lines as mail does.
        # https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#constructing-the-form-data-set
        text=fields.get("text", "").replace("\r\n", "\n").strip(),
        plan_first=fields.get("plan") == "yes",
    )


MAX_PER_HOUR: Final = 30


def make_request_limit(clock: Clock) -> AttemptLimit:
    """Return how often each person may send the form; it counts for this process."""
    return AttemptLimit(clock, MAX_PER_HOUR, timedelta(hours=1))


@dataclass(frozen=True)
class RequestFormRoutes:
    """Takes requests from people who are signed in.

    `may_read` and `offer_to`, which names repositories to choose from, may take a
    while, as `find_principal` may. `find_job` returns the newest run in a thread.
    """

    site: Site
    clock: Clock
    find_principal: Callable[[Request], Principal | None]
    may_read: Callable[[RepoRef, Actor], bool]
    submit: Callable[[Delivery], "Future[InboxResult]"]
    find_job: Callable[[ForgeThread], JobId | None]
    offer_to: Callable[[Actor], tuple[str, ...]]
    forge: ServiceProfile
    rate_limit: AttemptLimit

    def make_delivery(self, wanted: RequestedRun, viewer: Actor, word: str) -> Delivery:
        """Return the request; sent twice, by a second click, it is the same one."""
        now = self.clock.now()
        return make_request_delivery(WEB_SERVICE, word, wanted, viewer, now)


REQUEST_FORM_PATH: Final = "/requests/new"
_MAX_FORM_BYTES: Final = 256 * 1024
_SEE_OTHER: Final = 303
_NOT_OURS: Final = "This form has expired. Please submit it again."
_TOO_LARGE: Final = "The text is too long for a request."
_TOO_OFTEN: Final = (
    f"You have sent {MAX_PER_HOUR} requests within an hour. Please wait."
)
_NOT_STORED: Final = "The request could not be stored. Please send it again."

log = structlog.get_logger(__name__)


class Requester(Value):
    """Somebody who may make requests: who they are here, and on the forge."""

    principal: Principal
    identity: Actor


def add_request_form(app: FastAPI, routes: RequestFormRoutes) -> None:
    @app.get(REQUEST_FORM_PATH, include_in_schema=False)
    def show(request: Request) -> Response:
        """Show the form for a request."""
        requester = _find_requester(routes, request)
        if isinstance(requester, Response):
            return requester
        where = request.query_params.get("where", "")[:300]
        return _form(routes, requester, RequestInput(where=where))

    @app.post(REQUEST_FORM_PATH, include_in_schema=False)
    async def ask(request: Request) -> Response:
        """Start a run from the form, and go to its page."""
        requester = await run_in_threadpool(_find_requester, routes, request)
        if isinstance(requester, Response):
            return requester
        try:
            body = await read_body(request, _MAX_FORM_BYTES)
        except BodyTooLargeError:
            empty = RequestInput()
            return await run_in_threadpool(
                _form, routes, requester, empty, _TOO_LARGE, 413
            )
        fields = _first_values(body)
        typed, holder = read_form(fields), requester.principal.key
        word = routes.site.form_tokens.word_of(fields.get("check", ""), holder)

        async def refuse(problem: str, status: int) -> Response:
            return await run_in_threadpool(
                _form, routes, requester, typed, problem, status
            )

        if not word:
            return await refuse(_NOT_OURS, 403)
        if not routes.rate_limit.take(requester.identity.subject):
            return await refuse(_TOO_OFTEN, 429)
        judged = await run_in_threadpool(_validate, routes, requester.identity, typed)
        if isinstance(judged, str):
            return await refuse(judged, 422)
        return await _submit(routes, requester, typed, judged, word)


def _find_requester(
    routes: RequestFormRoutes, request: Request
) -> Requester | Response:
    """Return who may make a request, or the page that says why somebody may not."""
    principal = routes.find_principal(request)
    if principal is None:
        return routes.site.sign_in_first(request)
    if not principal.role.allows(Role.MEMBER):
        return routes.site.refuse(principal, Role.MEMBER)
    if principal.identity is None:
        title = routes.forge.title
        return routes.site.show("ask_nobody.html", principal, status=403, title=title)
    return Requester(principal=principal, identity=principal.identity)


def _first_values(body: bytes) -> dict[str, str]:
    fields = parse_qs(body.decode("utf-8", "replace"))
    return {name: values[0] for name, values in fields.items()}


def _validate(
    routes: RequestFormRoutes, viewer: Actor, typed: RequestInput
) -> RequestedRun | str:
    """Check what is known at once; a worker decides who may start a run."""
    judged = validate_request(typed, routes.forge)
    if isinstance(judged, RequestedRun) and not routes.may_read(judged.repo, viewer):
        name = judged.repo.full_name
        return f"There is no repository {name}, or you cannot read it."
    return judged


async def _submit(
    routes: RequestFormRoutes,
    requester: Requester,
    typed: RequestInput,
    wanted: RequestedRun,
    word: str,
) -> Response:
    delivery = routes.make_delivery(wanted, requester.identity, word)
    try:
        stored = await asyncio.wrap_future(routes.submit(delivery))
    except InboxUnavailableError:
        return await run_in_threadpool(
            _form, routes, requester, typed, _NOT_STORED, 503
        )
    bind_contextvars(delivery_id=delivery.id, **stored.ids)
    log.info("delivery_stored", service=WEB_SERVICE, verdict=stored.verdict)
    thread = requested_thread(wanted, word)
    job_id = stored.job_id or await run_in_threadpool(routes.find_job, thread)
    return RedirectResponse(f"{routes.site.prefix}/runs/{job_id}", _SEE_OTHER)


def _form(
    routes: RequestFormRoutes,
    requester: Requester,
    typed: RequestInput,
    problem: str = "",
    status: int = 200,
) -> Response:
    return routes.site.show(
        "ask.html",
        requester.principal,
        status=status,
        active=REQUEST_FORM_PATH,
        login=requester.identity.login,
        repositories=routes.offer_to(requester.identity),
        typed=typed,
        problem=problem,
        max_chars=MAX_TEXT_CHARS,
    )
