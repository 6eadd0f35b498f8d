"""The addresses at which accounts are linked, and whether this service has them."""

from collections.abc import Callable
from typing import Final
from urllib.parse import parse_qs, urlsplit

from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool

from patchwright.core.plugin import Plugin, SignInProvider, callback_path
from patchwright.core.settings.model import Settings
from patchwright.core.system.clock import Clock
from patchwright.core.types.base import JobId
from patchwright.core.types.people import Actor
from patchwright.workers.db.database import Database
from patchwright.workers.plugins.people import LINK_PATH, make_forge_accounts
from patchwright.workers.store.account_links import (
    INVITATION_LIFETIME,
    Linker,
    LinkStore,
)
from patchwright.workers.store.accounts import AccountStore
from patchwright.workers.store.identity_tokens import IdentityTokens
from patchwright.workers.store.secrets import SecretStore
from patchwright.workers.web.body import BodyTooLargeError, read_body
from patchwright.workers.web.forms import SignedCookie
from patchwright.workers.web.link_flow import (
    LINK_STATE_PREFIX,
    LinkingRoutes,
    LinkProblem,
    confirm_link,
    link_problem_page,
    return_from_forge,
    show_confirmation,
    show_offer,
    start_sign_in,
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
        """Link both accounts."""
        return await _with_check(
            request, lambda check: confirm_link(routes, request, check)
        )

    @app.get(LINK_PATH + "/{token}", include_in_schema=False)
    def show(request: Request, token: str) -> Response:
        """Show which person asked for the link."""
        return show_offer(routes, request, token)

    @app.post(LINK_PATH + "/{token}", include_in_schema=False)
    async def set_out(request: Request, token: str) -> Response:
        """Send the browser to the forge to sign in."""
        return await _with_check(
            request, lambda check: start_sign_in(routes, request, token, check)
        )


def linking_callbacks(routes: LinkingRoutes | None) -> CallbackHandlers:
    """Return the handler for people who come back from the forge to link."""
    return (
        {LINK_STATE_PREFIX: lambda request: return_from_forge(routes, request)}
        if routes
        else {}
    )


async def _with_check(request: Request, answer: Callable[[str], Response]) -> Response:
    try:
        body = await read_body(request, _MAX_FORM_BYTES)
    except BodyTooLargeError:
        return link_problem_page(LinkProblem.NOT_FROM_HERE)
    fields = parse_qs(body.decode("utf-8", "replace"))
    return await run_in_threadpool(answer, fields.get("check", [""])[0])


def make_linking_routes(
    plugin: Plugin,
    settings: Settings,
    secret: bytes | None,
    clock: Clock,
    *,
    database: Database,
    accounts: AccountStore,
    secrets: SecretStore,
    tokens: IdentityTokens,
    dispatch: Callable[[JobId], None],
) -> LinkingRoutes | None:
    """Return the routes, or None if nobody can sign in.

    Then `signing_in.make_sign_in` logs what is missing.
    """
    public_url = settings.server.public_url
    provider = _provider(plugin, settings, clock)
    if provider is None or not secret:
        return None
    forge = plugin.describe(settings)

    def find_person(actor: Actor) -> Actor | None:
        return accounts.person_of(actor, forge.name, forge.account_host)

    return LinkingRoutes(
        provider=provider,
        links=LinkStore(database, clock),
        linker=Linker(database, accounts, tokens, secrets, clock, forge.account_host),
        find_person=find_person,
        cookie=_cookie(public_url, secret, clock),
        dispatch=dispatch,
        forge_title=forge.title,
        forge_url=forge.web_url,
        prefix=urlsplit(public_url).path,
    )


def _provider(
    plugin: Plugin, settings: Settings, clock: Clock
) -> SignInProvider | None:
    public_url = settings.server.public_url
    accounts = make_forge_accounts(plugin, settings, clock)
    if not (accounts and plugin.describe(settings).can_sign_in and public_url):
        return None
    return accounts.sign_in(public_url + callback_path(plugin.name))


def _cookie(public_url: str, secret: bytes, clock: Clock) -> SignedCookie:
    # Sent to the pages of a link and to the address at which the forge sends back.
    return SignedCookie(
        name="patchwright_link",
        path=urlsplit(public_url).path or "/",
        life=INVITATION_LIFETIME,
        secret=secret,
        clock=clock,
        secure=public_url.startswith("https:"),
    )
