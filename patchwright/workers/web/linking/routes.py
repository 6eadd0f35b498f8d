"""The addresses at which people are linked."""

from collections.abc import Callable
from typing import Final
from urllib.parse import parse_qs

from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool

from patchwright.workers.linking.invitation import LINK_PATH
from patchwright.workers.web.body import BodyTooLargeError, read_body
from patchwright.workers.web.linking.door import LinkingRoutes
from patchwright.workers.web.linking.pages import link_problem_page
from patchwright.workers.web.linking.problems import LinkProblem
from patchwright.workers.web.linking.steps import (
    LINK_STATE_PREFIX,
    start_sign_in,
    return_from_forge,
    confirm_link,
    show_confirmation,
    show_offer,
)
from patchwright.workers.web.sign_in import CallbackHandlers

_MAX_FORM_BYTES: Final = 4096


def add_linking(app: FastAPI, routes: LinkingRoutes) -> None:
    # What waits for database or forge gets a thread.
    @app.get(LINK_PATH, include_in_schema=False)
    def show_both(request: Request) -> Response:
        """Show both accounts that would be linked."""
        return show_confirmation(routes, request)

    @app.post(LINK_PATH, include_in_schema=False)
    async def link(request: Request) -> Response:
        """Link them."""
        return await _with_check(request, lambda check: confirm_link(routes, request, check))

    @app.get(LINK_PATH + "/{token}", include_in_schema=False)
    def show(request: Request, token: str) -> Response:
        """Show who asked to be linked."""
        return show_offer(routes, request, token)

    @app.post(LINK_PATH + "/{token}", include_in_schema=False)
    async def set_out(request: Request, token: str) -> Response:
        """Send the browser to the forge, to show who its user is there."""
        return await _with_check(
            request, lambda check: start_sign_in(routes, request, token, check)
        )


def linking_callbacks(routes: LinkingRoutes | None) -> CallbackHandlers:
    """Return who takes back those that went to the forge to be linked."""
    return {LINK_STATE_PREFIX: lambda request: return_from_forge(routes, request)} if routes else {}


async def _with_check(request: Request, answer: Callable[[str], Response]) -> Response:
    try:
        body = await read_body(request, _MAX_FORM_BYTES)
    except BodyTooLargeError:
        return link_problem_page(LinkProblem.NOT_FROM_HERE)
    fields = parse_qs(body.decode("utf-8", "replace"))
    return await run_in_threadpool(answer, fields.get("check", [""])[0])
