"""The accounts of a web process: how people sign in, and the pages for that."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit

import structlog

from patchwright.core.plugin import Plugin, callback_path
from patchwright.core.settings.model import Settings
from patchwright.core.system.clock import Clock
from patchwright.core.types.base import Ids, JobId, RandomIds
from patchwright.core.types.people import Actor
from patchwright.integrations.oidc.claims import OIDC, make_provider
from patchwright.workers.accounts.directory import People, ProvenPerson
from patchwright.workers.accounts.principal import Role
from patchwright.workers.accounts.sessions import SessionStore
from patchwright.workers.accounts.tokens import ApiTokenStore
from patchwright.workers.compose import ServiceParts
from patchwright.workers.db.database import Database
from patchwright.workers.plugins.people import make_forge_accounts
from patchwright.workers.store.account_links import wake_waiting
from patchwright.workers.store.accounts import AccountStore
from patchwright.workers.store.audit import AuditLog
from patchwright.workers.web.app import AddPages
from patchwright.workers.web.app_install import make_first_admin_cookie
from patchwright.workers.web.forms import FormTokens
from patchwright.workers.web.frame import Site
from patchwright.workers.web.oidc_routes import BackchannelLogout, make_oidc_way
from patchwright.workers.web.rate_limit import AttemptLimit
from patchwright.workers.web.session_cookie import SessionCookie
from patchwright.workers.web.sign_in import (
    MAX_SIGN_INS,
    SIGN_INS_PERIOD,
    SignInRoutes,
    SignInWay,
    adding_url,
    make_attempts,
)
from patchwright.workers.web.site.account_pages import AccountPages, add_account_pages
from patchwright.workers.web.site.audit_page import AuditPages, add_audit_page
from patchwright.workers.web.site.form_posts import (
    FORMS_PERIOD,
    MAX_FORMS,
    FormPosts,
)
from patchwright.workers.web.site.people_pages import (
    MAX_WRONG_TOKENS,
    WRONG_TOKENS_PERIOD,
    PeoplePages,
    add_people_pages,
)
from patchwright.workers.web.visitors import Visitors, make_visitors, nobody

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class AccountParts:
    """What accounts are made of; `dispatch` submits a job that goes on."""

    plugin: Plugin
    settings: Settings
    database: Database
    accounts: AccountStore
    ids: Ids
    clock: Clock
    dispatch: Callable[[JobId], None]

    @property
    def audit(self) -> AuditLog:
        return AuditLog(self.database, self.ids, self.clock)

    @property
    def sessions(self) -> SessionStore:
        return SessionStore(self.database, self.ids, self.clock)

    @property
    def tokens(self) -> ApiTokenStore:
        return ApiTokenStore(self.database, self.ids, self.clock)

    @property
    def people(self) -> People:
        accounts = self.settings.accounts
        return People(
            database=self.database,
            accounts=self.accounts,
            ids=self.ids,
            clock=self.clock,
            forge=self.plugin.name,
            forge_host=self.plugin.describe(self.settings).account_host,
            issuer=self.settings.oidc.issuer,
            admins=accounts.admins,
            default_role=Role(accounts.default_role),
        )

    def wake(self, person: Actor) -> None:
        """Let the runs go on that wait for somebody to come here."""
        with self.database.writing() as connection:
            woken = wake_waiting(connection, person, self.clock.now())
        for job_id in woken:
            self.dispatch(job_id)


def account_parts(
    base: ServiceParts, dispatch: Callable[[JobId], None]
) -> AccountParts:
    return AccountParts(
        plugin=base.plugin,
        settings=base.settings,
        database=base.database,
        accounts=base.stores.accounts,
        ids=RandomIds(),
        clock=base.clock,
        dispatch=dispatch,
    )


def make_sign_in(parts: AccountParts, secret: bytes | None) -> SignInRoutes | None:
    """Return the sign-in routes, or None if nobody can sign in."""
    settings, clock = parts.settings, parts.clock
    public_url = settings.server.public_url
    accounts = make_forge_accounts(parts.plugin, settings, clock)
    has_forge = accounts is not None and parts.plugin.describe(settings).can_sign_in
    if not has_forge and not settings.oidc.is_configured:
        return None
    if not public_url:
        log.warning("sign_in_off", missing="server.public_url")
        return None
    if secret is None:
        log.warning("sign_in_off", missing="security.session_secret")
        return None
    ways = tuple(_ways(parts, secret))
    prefix = urlsplit(public_url).path
    return SignInRoutes(
        ways=ways,
        cookie=SessionCookie(parts.sessions, public_url.startswith("https:")),
        people=parts.people,
        audit=parts.audit,
        # Nobody is signed in there, so that it needs no navigation.
        site=Site(prefix, "", FormTokens(secret)),
        limit=AttemptLimit(clock, MAX_SIGN_INS, SIGN_INS_PERIOD),
        public_url=public_url,
        prefix=prefix,
        first_admin=make_first_admin_cookie(settings, secret, clock),
        on_proven=parts.wake,
    )


def _ways(parts: AccountParts, secret: bytes) -> Iterator[SignInWay]:
    forge = _forge_way(parts, secret)
    if forge is not None:
        yield forge
    provider = make_provider(parts.settings, parts.clock)
    if provider is not None:
        yield make_oidc_way(provider, parts.settings, secret, parts.clock)


def _forge_way(parts: AccountParts, secret: bytes) -> SignInWay | None:
    plugin, settings = parts.plugin, parts.settings
    accounts = make_forge_accounts(plugin, settings, parts.clock)
    profile, public_url = plugin.describe(settings), settings.server.public_url
    if accounts is None or not profile.can_sign_in:
        return None
    provider = accounts.sign_in(public_url + callback_path(plugin.name))

    def fetch(code: str, verifier: str) -> ProvenPerson:
        person = provider.fetch_person(code, verifier)
        return ProvenPerson(person=person, host=profile.account_host)

    return SignInWay(
        name=plugin.name,
        title=plugin.title,
        attempts=make_attempts(
            plugin.name,
            secret,
            parts.clock,
            secure=public_url.startswith("https:"),
            prefix=urlsplit(public_url).path,
        ),
        address=provider.address,
        fetch=fetch,
    )


def compose_visitors(parts: AccountParts, sign_in: SignInRoutes | None) -> Visitors:
    token = parts.settings.security.admin_token
    admin_token = token.get_secret_value() if token else ""
    if sign_in is None:
        return Visitors(nobody, admin_token)
    return make_visitors(
        parts.people, sign_in.cookie, parts.tokens, admin_token, parts.clock
    )


def account_pages(
    parts: AccountParts,
    sign_in: SignInRoutes | None,
    visitors: Visitors,
    site: Site,
) -> Iterator[AddPages]:
    """Yield what adds the pages of people; without a sign-in there are none."""
    if sign_in is None:
        return
    limit = AttemptLimit(parts.clock, MAX_FORMS, FORMS_PERIOD)
    posts = FormPosts(site, visitors.find, limit)
    yield partial(add_account_pages, pages=_own_page(parts, sign_in, site, posts))
    people = PeoplePages(
        site=site,
        posts=posts,
        people=parts.people,
        sessions=parts.sessions,
        audit=parts.audit,
        admin_token=visitors.admin_token,
        wrong_tokens=AttemptLimit(parts.clock, MAX_WRONG_TOKENS, WRONG_TOKENS_PERIOD),
    )
    yield partial(add_people_pages, pages=people)
    audit = AuditPages(site, posts, parts.audit, parts.clock)
    yield partial(add_audit_page, pages=audit)
    yield from _backchannel(parts, sign_in.ways)


def _own_page(
    parts: AccountParts, sign_in: SignInRoutes, site: Site, posts: FormPosts
) -> AccountPages:
    host = parts.plugin.describe(parts.settings).account_host
    return AccountPages(
        site=site,
        posts=posts,
        people=parts.people,
        sessions=parts.sessions,
        tokens=parts.tokens,
        audit=parts.audit,
        clock=parts.clock,
        ways={way.name: way.title for way in sign_in.ways},
        hosts={OIDC: parts.settings.oidc.issuer, parts.plugin.name: host},
        find_session=sign_in.cookie.find,
        adding_url=partial(adding_url, sign_in.prefix),
    )


def _backchannel(parts: AccountParts, ways: Sequence[SignInWay]) -> Iterator[AddPages]:
    provider = make_provider(parts.settings, parts.clock)
    if provider is None or not any(way.name == OIDC for way in ways):
        return
    route = BackchannelLogout(
        provider=provider,
        people=parts.people,
        sessions=parts.sessions,
        audit=parts.audit,
        limit=AttemptLimit(parts.clock, MAX_WRONG_TOKENS, WRONG_TOKENS_PERIOD),
    )
    yield route.add_to
