"""The pages about money, settings and set-up: what each of them works with."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final

from patchwright.core.plugin import PluginRoutes, import_later
from patchwright.core.types.base import AccountId, RandomIds
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.registry import PLUGINS, service_title
from patchwright.workers.accounts.principal import Principal, Role
from patchwright.workers.compose import ServiceParts
from patchwright.workers.runs.spend import SpendReader
from patchwright.workers.store.audit import AuditLog
from patchwright.workers.store.choices import ACCOUNT_SCOPE, ChoiceStore
from patchwright.workers.web.app import AddPages
from patchwright.workers.web.frame import NavigationItem, Site
from patchwright.workers.web.rate_limit import AttemptLimit
from patchwright.workers.web.run_access import RunAccess
from patchwright.workers.web.site.form_posts import (
    FORMS_PERIOD,
    MAX_FORMS,
    FormPosts,
)
from patchwright.workers.web.site.request_form import REQUEST_FORM_PATH
from patchwright.workers.web.site.settings_pages import (
    SETTINGS_PATH,
    SettingsPages,
    add_settings_pages,
)
from patchwright.workers.web.site.setup_page import (
    SETUP_PATH,
    CardResult,
    SetupPage,
    add_setup_page,
)
from patchwright.workers.web.site.spend_page import (
    SPEND_PATH,
    SpendPages,
    add_spend_page,
)

SETTINGS_NAVIGATION: Final = (
    NavigationItem(title="Spend", path=SPEND_PATH),
    NavigationItem(title="Settings", path=SETTINGS_PATH, least=Role.ADMIN),
    NavigationItem(title="Set-up", path=SETUP_PATH, least=Role.ADMIN),
)


def settings_site_pages(
    base: ServiceParts,
    site: Site,
    access: RunAccess,
    routes: Mapping[str, PluginRoutes],
) -> Iterator[AddPages]:
    """Yield what adds each of these pages; `routes` are by the services' names."""
    limit = AttemptLimit(base.clock, MAX_FORMS, FORMS_PERIOD)
    posts = FormPosts(site, access.find_principal, limit)
    yield partial(add_spend_page, pages=_spend_pages(base, site, access))
    yield partial(add_settings_pages, pages=_settings_pages(base, posts))
    yield partial(add_setup_page, page=_setup_page(base, posts, routes))


def _spend_pages(base: ServiceParts, site: Site, access: RunAccess) -> SpendPages:
    return SpendPages(
        site=site,
        find_principal=access.find_principal,
        may_read=access.may_read,
        account_of=partial(_account_of, base),
        reader=SpendReader(base.database),
        alerts=base.stores.alerts,
        limits=base.settings.limits,
        clock=base.clock,
    )


def _account_of(base: ServiceParts, principal: Principal) -> AccountId | None:
    if principal.account_id is not None or principal.identity is None:
        return principal.account_id
    host = base.directory.forge.account_host
    return base.stores.accounts.known(principal.identity, host)


def _settings_pages(base: ServiceParts, posts: FormPosts) -> SettingsPages:
    return SettingsPages(
        site=posts.site,
        posts=posts,
        audit=AuditLog(base.database, RandomIds(), base.clock),
        settings=base.settings,
        forge=base.directory.forge,
        chats=base.directory.chats,
        list_reached=base.forge.list_reached,
        known_repositories=partial(_known_repositories, base),
        fetch_file=base.forge.forge.fetch_file,
        choices=ChoiceStore(base.database),
        title_of=service_title,
        name_of=partial(_name_of, SpendReader(base.database)),
        clock=base.clock,
    )


def _name_of(reader: SpendReader, by: str) -> str:
    """Return what somebody is called; one without an account keeps their id."""
    account = by.removeprefix(ACCOUNT_SCOPE)
    return reader.names_of([account]).get(account, by)


def _known_repositories(base: ServiceParts) -> Iterator[RepoRef]:
    forge = base.directory.forge.name
    for name in base.directory.mapped_repositories:
        yield RepoRef(forge=forge, full_name=name)
    yield from base.stores.threads.newest_repositories(forge)


def _setup_page(
    base: ServiceParts, posts: FormPosts, routes: Mapping[str, PluginRoutes]
) -> SetupPage:
    return SetupPage(
        site=posts.site,
        posts=posts,
        settings=base.settings,
        plugins=PLUGINS,
        forge=base.plugin.name,
        install_paths={
            name: one.installation.path
            for name, one in routes.items()
            if one.installation is not None
        },
        examine=partial(_examine, base),
        request_path=posts.site.path_of(REQUEST_FORM_PATH),
    )


# The checks are imported when somebody wants them: they bring much along.
_run_checks: Final = import_later("patchwright.workers.doctor.checks:examine")


def _examine(base: ServiceParts, names: tuple[str, ...]) -> Iterator[CardResult]:
    """Run the checks of these names as `doctor --spend` does; no secret is told."""
    for one in _run_checks(base.settings, base.clock, names, base.redactor):
        yield CardResult(
            name=one.name,
            status=one.finding.status,
            found=one.finding.found,
            fixes=tuple(one.finding.fix.splitlines()),
        )
