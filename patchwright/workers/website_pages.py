"""The pages for people: who sees them, and what each of them works with."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from secrets import token_bytes
from typing import Final
from urllib.parse import urlsplit

import structlog

from patchwright.core.types.base import JobId
from patchwright.core.types.people import Permission
from patchwright.core.types.threads import ForgeThread, ThreadRef
from patchwright.resolver.configuration import max_raise_usd_of
from patchwright.resolver.job import Job
from patchwright.workers.accounts.principal import Role
from patchwright.workers.api.composition import Api
from patchwright.workers.compose import (
    ServiceParts,
    own_session_secret,
    run_links_of,
)
from patchwright.workers.inbox.inbox import Inbox
from patchwright.workers.plugins.people import ChatComposition
from patchwright.workers.runs.commands import CommandOrigin, RunCommands
from patchwright.workers.runs.listing import RunListing
from patchwright.workers.runs.reader import RunReader
from patchwright.workers.store.run_store import Stores
from patchwright.workers.store.threads import ThreadStore
from patchwright.workers.web.app import AddPages
from patchwright.workers.web.forms import FormTokens
from patchwright.workers.web.frame import NavigationItem, Site, add_assets
from patchwright.workers.web.run_access import RepositoryAccessCache, RunAccess
from patchwright.workers.web.run_page.actions import RunActions
from patchwright.workers.web.run_page.command_routes import add_run_commands
from patchwright.workers.web.run_page.downloads import add_run_downloads
from patchwright.workers.web.run_page.live import LiveUpdates
from patchwright.workers.web.run_page.routes import RunPages, add_run_pages
from patchwright.workers.web.sign_in import SignInRoutes
from patchwright.workers.web.site.people_pages import PEOPLE_PATH
from patchwright.workers.web.site.request_form import (
    REQUEST_FORM_PATH,
    RequestFormRoutes,
    add_request_form,
    make_request_limit,
)
from patchwright.workers.web.site.runs_live import LiveRows
from patchwright.workers.web.site.runs_page import (
    RUNS_PATH,
    RunsPages,
    add_runs_page,
)
from patchwright.workers.web.visitors import Visitors
from patchwright.workers.website_accounts import (
    AccountParts,
    account_pages,
    compose_visitors,
)
from patchwright.workers.website_settings import SETTINGS_NAVIGATION

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class PageParts:
    """What the pages of a process have in common.

    Without a `sign_in` only the administrator's token opens them.
    """

    base: ServiceParts
    accounts: AccountParts
    sign_in: SignInRoutes | None
    visitors: Visitors
    access: RunAccess
    site: Site
    chat: ChatComposition
    inbox: Inbox

    @cached_property
    def reader(self) -> RunReader:
        stores = self.base.stores
        return RunReader(stores.jobs, stores.events, stores.outcomes, stores.effects)


def compose_pages(
    base: ServiceParts,
    accounts: AccountParts,
    sign_in: SignInRoutes | None,
    chat: ChatComposition,
    inbox: Inbox,
) -> PageParts:
    visitors = compose_visitors(accounts, sign_in)
    access = _run_access(base, visitors)
    site = _site(base, sign_in)
    return PageParts(base, accounts, sign_in, visitors, access, site, chat, inbox)


def site_pages(parts: PageParts) -> Iterator[AddPages]:
    """Yield what adds each page; one that nobody could use is left out."""
    yield add_assets
    yield partial(add_runs_page, pages=_runs_pages(parts))
    form = _request_form(parts)
    if form is not None:
        yield partial(add_request_form, routes=form)
    yield from run_page_routes(_run_pages(parts))
    yield make_api(parts).add_to
    yield from account_pages(parts.accounts, parts.sign_in, parts.visitors, parts.site)


def _runs_pages(parts: PageParts) -> RunsPages:
    base = parts.base
    listing, directory = RunListing(base.database, parts.reader), base.directory
    services = (directory.forge, *directory.chats.values())
    return RunsPages(
        site=parts.site,
        listing=listing,
        access=parts.access,
        live=LiveRows(listing, base.stores.events.notifier, base.clock),
        clock=base.clock,
        forge=directory.forge,
        sources={one.name: one.title for one in services if one.is_configured},
        form_path=REQUEST_FORM_PATH if can_ask(base, parts.sign_in) else "",
    )


def run_page_routes(pages: RunPages) -> Iterator[AddPages]:
    """Yield what adds the page of a run, its forms and its downloads."""
    yield partial(add_run_pages, pages=pages)
    yield partial(
        add_run_commands,
        actions=pages.actions,
        find=pages.find,
        show_missing=pages.missing,
    )
    yield partial(add_run_downloads, pages=pages)


def _run_pages(parts: PageParts) -> RunPages:
    stores = parts.base.stores
    return RunPages(
        reader=parts.reader,
        access=parts.access,
        live=LiveUpdates(
            parts.reader,
            stores.events.notifier,
            parts.base.clock,
            parts.access.links.still_open,
        ),
        clock=parts.base.clock,
        site=parts.site,
        directory=parts.base.directory,
        threads_of=partial(_threads_of, stores.threads),
        redactor=parts.base.redactor,
        actions=_run_actions(parts),
    )


def _run_actions(parts: PageParts) -> RunActions:
    base = parts.base
    commands = RunCommands(
        CommandOrigin.WEB,
        base.database,
        base.stores.events,
        base.clock,
        parts.inbox.submit,
        parts.accounts.dispatch,
    )
    return RunActions(
        access=parts.access,
        commands=commands,
        reader=parts.reader,
        site=parts.site,
        forge=base.directory.forge.title,
        max_raise_usd=max_raise_usd_of(base.settings.limits),
    )


def make_api(parts: PageParts) -> Api:
    base = parts.base
    return Api(
        settings=base.settings,
        database=base.database,
        stores=base.stores,
        redactor=base.redactor,
        forge=base.directory.forge,
        clock=base.clock,
        access=parts.access,
        site=parts.site,
        submit=parts.inbox.submit,
        dispatch=parts.accounts.dispatch,
        wrong_tokens=parts.visitors.wrong_tokens,
    )


def _threads_of(threads: ThreadStore, job: Job) -> tuple[ThreadRef, ...]:
    return tuple(one.ref for one in threads.threads_of(job.conversation_id))


def can_ask(base: ServiceParts, sign_in: SignInRoutes | None) -> bool:
    """Tell whether people can make requests on a page."""
    return sign_in is not None and own_session_secret(base) is not None


_RUNS: Final = NavigationItem(title="Runs", path=RUNS_PATH)
_REQUEST: Final = NavigationItem(
    title="New request", path=REQUEST_FORM_PATH, least=Role.MEMBER
)

_PEOPLE: Final = NavigationItem(title="People", path=PEOPLE_PATH, least=Role.ADMIN)


def _navigation(
    base: ServiceParts, sign_in: SignInRoutes | None
) -> Iterator[NavigationItem]:
    """Yield the pages in the order in which people find them."""
    yield _RUNS
    if can_ask(base, sign_in):
        yield _REQUEST
    yield from SETTINGS_NAVIGATION
    if sign_in is not None:
        yield _PEOPLE


def _site(base: ServiceParts, sign_in: SignInRoutes | None) -> Site:
    """Compose the frame; without a secret a form holds until the process ends."""
    return Site(
        prefix=urlsplit(base.settings.server.public_url).path,
        login_path=sign_in.entry_path if sign_in else "",
        form_tokens=FormTokens(own_session_secret(base) or token_bytes()),
        navigation=tuple(_navigation(base, sign_in)),
    )


def _run_access(base: ServiceParts, visitors: Visitors) -> RunAccess:
    """Compose it; without a secret no link opens a run, and none is given out."""
    links = run_links_of(base)
    if links.public_url and links.secret is None:
        log.warning("no_links_to_runs", missing="security.session_secret")
    fetch_permission = base.forge.forge.fetch_permission
    writers = RepositoryAccessCache(fetch_permission, base.clock, Permission.WRITE)
    return RunAccess(
        links=links,
        find_principal=visitors.find,
        may_read=RepositoryAccessCache(fetch_permission, base.clock).is_allowed,
        may_write=writers.is_allowed,
        is_private=partial(_is_private, base.stores.threads),
    )


def _is_private(threads: ThreadStore, job: Job) -> bool:
    """Tell whether its log has words that not everybody may read who sees the code."""
    linked = _threads_of(threads, job)
    return any(one.is_private for one in (job.trigger.thread, *linked))


def _request_form(parts: PageParts) -> RequestFormRoutes | None:
    """Return the form, or None where nobody can sign in."""
    base = parts.base
    if not can_ask(base, parts.sign_in):
        return None
    return RequestFormRoutes(
        site=parts.site,
        clock=base.clock,
        find_principal=parts.visitors.find,
        may_read=parts.access.may_read,
        submit=parts.inbox.submit,
        find_job=partial(_find_job, base.stores),
        offer_to=partial(parts.chat.repositories.find, ""),
        forge=base.directory.forge,
        rate_limit=make_request_limit(base.clock),
    )


def _find_job(stores: Stores, thread: ForgeThread) -> JobId | None:
    found = stores.threads.conversation_of(thread)
    job = stores.jobs.last_job_of(found) if found else None
    return job.id if job else None
