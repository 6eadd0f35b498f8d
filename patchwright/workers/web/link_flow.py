"""The steps and pages of linking accounts, and what a browser holds meanwhile."""

import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Final

import structlog
from fastapi import Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from patchwright.core.plugin import SignInProvider
from patchwright.core.types.base import JobId, Value
from patchwright.core.types.errors import ServiceError
from patchwright.core.types.people import Actor
from patchwright.workers.plugins.people import (
    LINK_PATH,
    display_name,
    service_name,
    workspace_name,
)
from patchwright.workers.store.account_links import (
    Linker,
    LinkRequest,
    LinkStatus,
    LinkStore,
    digest_of,
)
from patchwright.workers.web.forms import SignedCookie, form_pages


class ProblemText(Value):
    status: int
    title: str
    text: str


class LinkProblem(Enum):
    """`{service}` is where the person came from."""

    UNKNOWN = ProblemText(
        status=404,
        title="This link is not known",
        text="It may be incomplete, or a newer link has replaced it. Please open the "
        "newest link that you got, or ask again for a new link.",
    )
    EXPIRED = ProblemText(
        status=410,
        title="This link has expired",
        text="A link is valid for 15 minutes. Please ask again for a new link.",
    )
    USED = ProblemText(
        status=410,
        title="This link has been used",
        text="A link works once. If you did not use it yourself, tell the operator of "
        "this service, and ask for a new link to link your account again.",
    )
    OTHER_BROWSER = ProblemText(
        status=403,
        title="This link was opened in another browser",
        text="A link works in one browser only. Please continue there, or ask again "
        "for a new link.",
    )
    NOT_FROM_HERE = ProblemText(
        status=403,
        title="This request did not come from our page",
        text="Nothing was linked. Please open your link again; this browser must "
        "accept the cookie of this page.",
    )
    WRONG_STATE = ProblemText(
        status=400,
        title="This sign-in did not start in this browser",
        text="The sign-in started in another browser, took longer than ten minutes, "
        "or was already finished. Nothing was linked. Please open your link "
        "again.",
    )
    DECLINED = ProblemText(
        status=403,
        title="You declined the sign-in",
        text="Nothing was linked. If that was a mistake, open your link again.",
    )
    FORGE_FAILED = ProblemText(
        status=502,
        title="The sign-in did not work",
        text="We could not find out who you are there. Nothing was linked. Please "
        "open your link again.",
    )
    NOT_PROVEN = ProblemText(
        status=409,
        title="Something is missing",
        text="We do not know yet who you are on the other service, or it has changed "
        "since we asked you. Nothing was linked. Please open your link again.",
    )


def usable_link(found: LinkRequest | None) -> LinkRequest | LinkProblem:
    """Return the link if it still counts, or else why it does not."""
    if found is None:
        return LinkProblem.UNKNOWN
    match found.standing:
        case LinkStatus.OPEN:
            return found
        case LinkStatus.EXPIRED:
            return LinkProblem.EXPIRED
        case LinkStatus.USED:
            return LinkProblem.USED


# The address of a link is a secret.
_REFERRER: Final = "no-referrer"
_PAGES: Final = form_pages(_REFERRER)
NO_TRACE: Final = {"Cache-Control": "no-store", "Referrer-Policy": _REFERRER}


def link_offer_page(
    found: LinkRequest, check: str, forge_title: str, forge_url: str
) -> HTMLResponse:
    return _PAGES.show(
        "offer_link.html",
        sends_to=forge_url,
        actor=_actor_facts(found.actor),
        forge=forge_title,
        until=found.expires_at,
        check=check,
    )


def link_confirm_page(
    found: LinkRequest, person: Actor, before: Actor | None, check: str
) -> HTMLResponse:
    replaces = before is not None and before.external_id != person.external_id
    return _PAGES.show(
        "confirm_link.html",
        actor=_actor_facts(found.actor),
        person=_actor_facts(person),
        before=_actor_facts(before) if before and replaces else None,
        check=check,
    )


def link_done_page(found: LinkRequest, person: Actor) -> HTMLResponse:
    return _PAGES.show(
        "linked.html", actor=_actor_facts(found.actor), person=_actor_facts(person)
    )


def link_problem_page(problem: LinkProblem) -> HTMLResponse:
    words = problem.value
    return _PAGES.show("link_problem.html", status=words.status, problem=words)


def _actor_facts(actor: Actor) -> dict[str, str]:
    return {
        "name": display_name(actor),
        "id": actor.external_id,
        "service": service_name(actor.service),
        "place": workspace_name(actor),
    }


_WORD_BYTES: Final = 32


@dataclass(frozen=True)
class LinkingRoutes:
    """`find_person` tells who an actor is until now; `forge_url` has the sign-in."""

    provider: SignInProvider
    links: LinkStore
    linker: Linker
    find_person: Callable[[Actor], Actor | None]
    cookie: SignedCookie
    dispatch: Callable[[JobId], None]
    forge_title: str
    forge_url: str
    prefix: str = ""


class BrowserState(Value):
    """What the cookie says: which browser it is, and what it was doing last.

    `request` is the digest of a link, and `verifier` what proves to the forge that it
    is the one that was sent there.
    """

    browser: str = ""
    request: str = ""
    verifier: str = ""

    @property
    def browser_digest(self) -> str:
        return digest_of(self.browser)

    def has(self, found: LinkRequest) -> bool:
        """Tell whether the link is bound to this browser."""
        return found.browser is not None and hmac.compare_digest(
            found.browser, self.browser_digest
        )

    def check(self, found: LinkRequest) -> str:
        """Return what a page of ours has in its form, and no other page can know.

        It stands for what the page shows: the link, and the person if there is one.
        The `Origin` of a form would tell less, as `no-referrer` makes it `null`.
        https://fetch.spec.whatwg.org/#append-a-request-origin-header
        """
        person = found.person.external_id if found.person else ""
        shown = f"{found.digest} {person}".encode()
        return hmac.digest(self.browser.encode(), shown, "sha256").hex()

    def sent(self, found: LinkRequest, check: str) -> bool:
        """Tell whether a form comes from a page that this browser was shown."""
        if not self.browser:
            return False
        return hmac.compare_digest(self.check(found).encode(), check.encode())


def read_browser_state(routes: LinkingRoutes, request: Request) -> BrowserState:
    return BrowserState.model_validate(routes.cookie.read(request))


def with_browser_id(held: BrowserState) -> BrowserState:
    """Return the same with a name for the browser, new if it had none."""
    if held.browser:
        return held
    return BrowserState(browser=secrets.token_urlsafe(_WORD_BYTES))


def store_browser_state(
    routes: LinkingRoutes, response: Response, held: BrowserState
) -> None:
    routes.cookie.put(response, held.model_dump())


# What the state of a link begins with, which goes to the forge and comes back.
LINK_STATE_PREFIX: Final = "link"
_SEE_OTHER: Final = 303
# https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2.1
_SAID_NO: Final = "access_denied"
_STATE_BYTES: Final = 32
_VERIFIER_BYTES: Final = 48

log = structlog.get_logger(__name__)


def show_offer(routes: LinkingRoutes, request: Request, token: str) -> Response:
    """Show who wants to be linked; visitors such as link previews may see it."""
    found = usable_link(routes.links.find(digest_of(token)))
    if isinstance(found, LinkProblem):
        return link_problem_page(found)
    held = with_browser_id(read_browser_state(routes, request))
    if found.browser is not None and not held.has(found):
        return link_problem_page(LinkProblem.OTHER_BROWSER)
    response = link_offer_page(
        found, held.check(found), routes.forge_title, routes.forge_url
    )
    store_browser_state(routes, response, held)
    return response


def start_sign_in(
    routes: LinkingRoutes, request: Request, token: str, check: str
) -> Response:
    """Bind the link to the browser, and send it to the forge."""
    found = usable_link(routes.links.find(digest_of(token)))
    if isinstance(found, LinkProblem):
        return link_problem_page(found)
    held = read_browser_state(routes, request)
    if not held.sent(found, check):
        return link_problem_page(LinkProblem.NOT_FROM_HERE)
    state = f"{LINK_STATE_PREFIX}.{secrets.token_urlsafe(_STATE_BYTES)}"
    if not routes.links.begin(found.digest, held.browser_digest, digest_of(state)):
        return link_problem_page(LinkProblem.OTHER_BROWSER)
    verifier = secrets.token_urlsafe(_VERIFIER_BYTES)
    response = _redirect(routes.provider.address(state, verifier))
    store_browser_state(
        routes,
        response,
        BrowserState(browser=held.browser, request=found.digest, verifier=verifier),
    )
    return response


def return_from_forge(routes: LinkingRoutes, request: Request) -> Response:
    """Take the browser back from the forge, and note who is in front of it."""
    held, query = read_browser_state(routes, request), request.query_params
    state = digest_of(query.get("state", ""))
    if not routes.links.use_state(held.request, held.browser_digest, state):
        return _refuse(routes, held)
    found = usable_link(routes.links.find(held.request))
    if isinstance(found, LinkProblem):
        return link_problem_page(found)
    if query.get("error") == _SAID_NO:
        return link_problem_page(LinkProblem.DECLINED)
    try:
        person, grant = routes.provider.fetch_grant(
            query.get("code", ""), held.verifier
        )
    except ServiceError as error:
        log.warning("link_failed", reason=error.reason, error=str(error))
        return link_problem_page(LinkProblem.FORGE_FAILED)
    if not routes.linker.prove(found, held.browser_digest, person, grant):
        return link_problem_page(LinkProblem.EXPIRED)
    # The address without the code is the one that stays in the browser's history.
    return _redirect(f"{routes.prefix}{LINK_PATH}")


def show_confirmation(routes: LinkingRoutes, request: Request) -> Response:
    """Show both sides to the one who proved to be one of them."""
    held = read_browser_state(routes, request)
    found = usable_link(routes.links.find(held.request))
    if isinstance(found, LinkProblem):
        return link_problem_page(found)
    if found.person is None or not held.has(found):
        return link_problem_page(LinkProblem.NOT_PROVEN)
    before = routes.find_person(found.actor)
    return link_confirm_page(found, found.person, before, held.check(found))


def confirm_link(routes: LinkingRoutes, request: Request, check: str) -> Response:
    held = read_browser_state(routes, request)
    found = routes.links.find(held.request)
    if found is not None and found.standing is LinkStatus.EXPIRED:
        return link_problem_page(LinkProblem.EXPIRED)
    if found is None or found.person is None or not held.has(found):
        return link_problem_page(LinkProblem.NOT_PROVEN)
    if not held.sent(found, check):
        return link_problem_page(LinkProblem.NOT_FROM_HERE)
    if found.standing is LinkStatus.USED:
        # They pressed the button twice.
        return link_done_page(found, found.person)
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
    return link_done_page(found, found.person)


def _refuse(routes: LinkingRoutes, held: BrowserState) -> Response:
    found = usable_link(routes.links.find(held.request))
    problem = found if found is LinkProblem.EXPIRED else LinkProblem.WRONG_STATE
    log.warning("link_refused", problem=problem.name)
    return link_problem_page(problem)


def _redirect(address: str) -> Response:
    return RedirectResponse(address, _SEE_OTHER, NO_TRACE)
