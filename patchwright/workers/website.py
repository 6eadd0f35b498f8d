"""The web side of a process: webhooks, sign-in, request form and run pages."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit

import structlog
from pydantic import SecretStr

from patchwright.core.plugin import InstallationReach, PluginRoutes
from patchwright.core.plugin_host import PluginHost
from patchwright.core.types.base import RandomIds
from patchwright.core.types.people import Actor
from patchwright.core.webhook import WebhookSource
from patchwright.workers.compose import (
    ServiceParts,
    health_checks_of,
    make_chat_composition,
    make_reporter,
    own_session_secret,
    run_links_of,
)
from patchwright.workers.inbox.inbox import Dispatcher, Inbox
from patchwright.workers.inbox.missed_deliveries import ReadPositions
from patchwright.workers.inbox.recorder import Recorder
from patchwright.workers.ops.endpoints import Reporter
from patchwright.workers.ops.health import Health
from patchwright.workers.ops.lifecycle import ProcessRole
from patchwright.workers.ops.service_metrics import ServiceMetrics
from patchwright.workers.plugins.host import (
    PersonPages,
    SocketDeliveries,
    find_affected,
)
from patchwright.workers.plugins.people import (
    ChatComposition,
    make_identity_tokens,
)
from patchwright.workers.queue.interface import repeat_in_background
from patchwright.workers.web.app import AddPages, WebApp, WebServices, create_app
from patchwright.workers.web.app_install import (
    InstalledPage,
    make_install_routes,
    make_operator_cookie,
)
from patchwright.workers.web.frame import Site
from patchwright.workers.web.link_flow import LinkingRoutes
from patchwright.workers.web.link_routes import make_linking_routes
from patchwright.workers.web.site.request_form import REQUEST_FORM_PATH
from patchwright.workers.web.site.setup_page import SETUP_PATH
from patchwright.workers.website_accounts import account_parts, make_sign_in
from patchwright.workers.website_pages import (
    can_ask,
    compose_pages,
    site_pages,
)
from patchwright.workers.website_settings import settings_site_pages

log = structlog.get_logger(__name__)


# Takes whether deliveries can be stored.
MakeWebHealth = Callable[[Callable[[], bool]], Health]


@dataclass(frozen=True)
class Website:
    """The web side of a process, what tells how it is, and if requests have a form."""

    app: WebApp
    reporter: Reporter
    has_form: bool


# Is told where our app at the forge was installed.
OnInstalled = Callable[[InstallationReach], None]


def _note_nothing(_reach: InstallationReach) -> None:
    """Do nothing more than the log does."""


def make_website(
    base: ServiceParts,
    judge: MakeWebHealth | None = None,
    role: ProcessRole = ProcessRole.WEB,
    on_installed: OnInstalled = _note_nothing,
) -> Website:
    """Compose the web part; `judge` returns further health checks of its process."""
    base.meters.registry.register(ServiceMetrics(base.database, base.clock))
    dispatcher = Dispatcher(base.submit)
    recorder = Recorder(base.stores.events, RandomIds())
    inbox = Inbox(base.database, recorder, dispatcher.dispatch)
    base.meters.watch_intake(lambda: inbox.waiting)
    health = (judge or health_checks_of(base).web)(lambda: inbox.is_alive)
    reporter = make_reporter(base, role, health)
    secret = own_session_secret(base)
    accounts = account_parts(base, dispatcher.dispatch)
    sign_in = make_sign_in(accounts, secret)
    chat = make_chat_composition(base)
    pages = compose_pages(base, accounts, sign_in, chat, inbox)
    routes = _open_routes(base, chat, inbox)
    web = WebServices(
        reporter=reporter,
        count_request=base.meters.count_request,
        inbox=inbox,
        dispatcher=dispatcher,
        webhook_sources=_webhook_sources(routes),
        background_tasks=tuple(_background_tasks(routes)),
        pages=(
            *_installation_pages(base, pages.site, routes, secret, on_installed),
            *site_pages(pages),
            *settings_site_pages(base, pages.site, pages.access, routes),
        ),
        linking=_linking(base, secret, dispatcher),
        clock=base.clock,
        prefix=urlsplit(base.settings.server.public_url).path,
        sign_in=sign_in,
    )
    return Website(create_app(web), reporter, has_form=can_ask(base, sign_in))


def _open_routes(
    base: ServiceParts, chat: ChatComposition, inbox: Inbox
) -> Mapping[str, PluginRoutes]:
    """Open what each service that is configured comes in by, by its name."""
    people = PersonPages(
        chat.people,
        chat.choices,
        base.stores.jobs,
        chat.repositories,
        run_links_of(base).own_url,
        base.clock,
    )

    def make_host(service: str) -> PluginHost:
        return PluginHost(
            clock=base.clock,
            positions=ReadPositions(base.database),
            people=people,
            submit=inbox.submit,
            receive=SocketDeliveries(service, inbox, base.clock),
            find_affected=partial(find_affected, base.database),
            find_user_token=partial(_find_user_token, base, chat),
            max_body_bytes=base.settings.server.max_body_bytes,
        )

    own = base.forge.open_routes(make_host(base.plugin.name))
    return {base.plugin.name: own, **base.chats.open_routes(make_host)}


def _webhook_sources(routes: Mapping[str, PluginRoutes]) -> dict[str, WebhookSource]:
    return {
        name: one.webhook_source for name, one in routes.items() if one.webhook_source
    }


def _background_tasks(
    routes: Mapping[str, PluginRoutes],
) -> Iterator[AbstractContextManager[object]]:
    for one in routes.values():
        yield from one.background_tasks
        for task in one.periodic_tasks:
            yield repeat_in_background(task.act, task.every_s)


def _installation_pages(
    base: ServiceParts,
    site: Site,
    routes: Mapping[str, PluginRoutes],
    secret: bytes | None,
    on_installed: OnInstalled,
) -> Iterator[AddPages]:
    yield _installed_page(base, site, secret, on_installed).add_to
    for name, one in routes.items():
        if one.installation is None:
            continue
        pages = make_install_routes(
            name, one.installation, base.settings, secret, base.clock
        )
        if pages is not None:
            yield pages.add_to


def _installed_page(
    base: ServiceParts,
    site: Site,
    secret: bytes | None,
    on_installed: OnInstalled,
) -> InstalledPage:
    forge = base.directory.forge
    return InstalledPage(
        site=site,
        setup_path=SETUP_PATH,
        request_path=REQUEST_FORM_PATH,
        forge=forge,
        operator=make_operator_cookie(forge.name, base.settings, secret, base.clock),
        fetch_reach=base.forge.fetch_reach,
        on_installed=on_installed,
    )


def _find_user_token(
    base: ServiceParts, chat: ChatComposition, person: Actor
) -> SecretStr | None:
    host = base.directory.forge.account_host
    account = base.stores.accounts.known(person, host)
    return None if account is None else chat.tokens.fetch(account)


def _linking(
    base: ServiceParts, secret: bytes | None, dispatcher: Dispatcher
) -> LinkingRoutes | None:
    return make_linking_routes(
        base.plugin,
        base.settings,
        secret,
        base.clock,
        database=base.database,
        accounts=base.stores.accounts,
        secrets=base.secrets,
        tokens=make_identity_tokens(
            base.plugin, base.settings, base.database, base.secrets, base.clock
        ),
        dispatch=dispatcher.dispatch,
    )
