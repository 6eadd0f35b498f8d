"""The steps of a link, from what a browser sends to the page it gets."""

import secrets
from typing import Final

import structlog
from fastapi import Request, Response
from fastapi.responses import RedirectResponse

from patchwright.core.errors import ServiceError
from patchwright.workers.linking.invitation import LINK_PATH
from patchwright.workers.store.link_rows import Standing
from patchwright.workers.store.links import digest_of
from patchwright.workers.web.linking.door import (
    Held,
    LinkingDoor,
    held_by,
    let_hold,
    named,
)
from patchwright.workers.web.linking.pages import (
    NO_TRACE,
    confirm_page,
    done_page,
    offer_page,
    problem_page,
)
from patchwright.workers.web.linking.problems import Problem, usable

# What the state of a link begins with, which goes to the forge and comes back.
ERRAND: Final = "link"
_SEE_OTHER: Final = 303
# https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2.1
_SAID_NO: Final = "access_denied"
_STATE_BYTES: Final = 32
_VERIFIER_BYTES: Final = 48

log = structlog.get_logger(__name__)


def show_offer(routes: LinkingDoor, request: Request, token: str) -> Response:
    """Say who wants to be linked; whoever only looks, such as a preview, may."""
    found = usable(routes.links.find(digest_of(token)))
    if isinstance(found, Problem):
        return problem_page(found)
    held = named(held_by(routes, request))
    if found.browser is not None and not held.has(found):
        return problem_page(Problem.OTHER_BROWSER)
    response = offer_page(found, held.check(found), routes.forge_url)
    let_hold(routes, response, held)
    return response


def begin(routes: LinkingDoor, request: Request, token: str, check: str) -> Response:
    """Bind the link to the browser, and send it to the forge."""
    found = usable(routes.links.find(digest_of(token)))
    if isinstance(found, Problem):
        return problem_page(found)
    held = held_by(routes, request)
    if not held.sent(found, check):
        return problem_page(Problem.NOT_FROM_HERE)
    state = f"{ERRAND}.{secrets.token_urlsafe(_STATE_BYTES)}"
    if not routes.links.begin(found.digest, held.browser_digest, digest_of(state)):
        return problem_page(Problem.OTHER_BROWSER)
    verifier = secrets.token_urlsafe(_VERIFIER_BYTES)
    response = _go(routes.provider.address(state, verifier))
    let_hold(
        routes,
        response,
        Held(browser=held.browser, request=found.digest, verifier=verifier),
    )
    return response


def come_back(routes: LinkingDoor, request: Request) -> Response:
    """Take the browser back from the forge, and note who is in front of it."""
    held, query = held_by(routes, request), request.query_params
    state = digest_of(query.get("state", ""))
    if not routes.links.use_state(held.request, held.browser_digest, state):
        return _refuse(routes, held)
    found = usable(routes.links.find(held.request))
    if isinstance(found, Problem):
        return problem_page(found)
    if query.get("error") == _SAID_NO:
        return problem_page(Problem.DECLINED)
    try:
        person, grant = routes.provider.fetch_grant(query.get("code", ""), held.verifier)
    except ServiceError as error:
        log.warning("link_failed", reason=error.reason, error=str(error))
        return problem_page(Problem.FORGE_FAILED)
    if not routes.linker.prove(found, held.browser_digest, person, grant):
        return problem_page(Problem.EXPIRED)
    # The address without the code is the one that stays in the browser's history.
    return _go(f"{routes.prefix}{LINK_PATH}")


def show_confirmation(routes: LinkingDoor, request: Request) -> Response:
    """Show both sides to the one who proved to be one of them."""
    held = held_by(routes, request)
    found = usable(routes.links.find(held.request))
    if isinstance(found, Problem):
        return problem_page(found)
    if found.person is None or not held.has(found):
        return problem_page(Problem.NOT_PROVEN)
    before = routes.find_person(found.actor)
    return confirm_page(found, found.person, before, held.check(found))


def confirm(routes: LinkingDoor, request: Request, check: str) -> Response:
    held = held_by(routes, request)
    found = routes.links.find(held.request)
    if found is not None and found.status is Standing.EXPIRED:
        return problem_page(Problem.EXPIRED)
    if found is None or found.person is None or not held.has(found):
        return problem_page(Problem.NOT_PROVEN)
    if not held.sent(found, check):
        return problem_page(Problem.NOT_FROM_HERE)
    if found.status is Standing.USED:
        # They pressed the button twice.
        return done_page(found, found.person)
    woken = routes.linker.confirm(found, held.browser_digest, found.person)
    if woken is None:
        # It was found out in between: a second press, or the time was up.
        return show_confirmation(routes, request)
    log.info(
        "linked",
        service=found.actor.service,
        subject=found.actor.external_id,
        login=found.person.login,
        jobs=woken,
    )
    for job_id in woken:
        routes.dispatch(job_id)
    return done_page(found, found.person)


def _refuse(routes: LinkingDoor, held: Held) -> Response:
    found = usable(routes.links.find(held.request))
    problem = found if found is Problem.EXPIRED else Problem.WRONG_STATE
    log.warning("link_refused", problem=problem.name)
    return problem_page(problem)


def _go(address: str) -> Response:
    return RedirectResponse(address, _SEE_OTHER, NO_TRACE)
