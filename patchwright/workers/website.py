"""The web side of a process: webhooks, sign-in, request form and run pages."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit

import structlog

from patchwright.core.clock import Clock
from patchwright.core.settings.model import Settings
from patchwright.core.types.base import JobId, RandomIds
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import ForgeThread, TalkThread
from patchwright.integrations.github.app import CALLBACK_PATH
from patchwright.integrations.github.sign_in import SignIn
from patchwright.integrations.github.webhooks.triggers import SERVICE
from patchwright.resolver.job import Job
from patchwright.workers.account_links import make_identity_tokens, make_user_tokens
from patchwright.workers.compose import (
    ServiceParts,
    make_chat_composition,
    make_reporter,
    open_github,
    own_session_secret,
    page_finder,
    vitals_of,
)
from patchwright.workers.github_connection import make_github_connection
from patchwright.workers.inbox.delivery import Delivery, InboxResult
from patchwright.workers.inbox.inbox import Dispatcher, Inbox
from patchwright.workers.inbox.recorder import Recorder
from patchwright.workers.lifecycle import Role
from patchwright.workers.ops.endpoints import Reporter
from patchwright.workers.ops.health import Health
from patchwright.workers.ops.service_metrics import ServiceMetrics
from patchwright.workers.plugins.github import EventConfirmation, GitHubReceiverLookup
from patchwright.workers.plugins.people import ChatComposition
from patchwright.workers.plugins.registry import PluginRoutes, WebContext
from patchwright.workers.runs.reader import RunReader
from patchwright.workers.store.run_store import Stores
from patchwright.workers.store.threads import ThreadStore
from patchwright.workers.web.access import (
    FetchPermission,
    RepositoryAccessCache,
    RunAccess,
)
from patchwright.workers.web.app import WebApp, WebServices, create_app
from patchwright.workers.web.link_flow import LinkingRoutes
from patchwright.workers.web.link_routes import make_linking_routes
from patchwright.workers.web.pages.live import LiveUpdates
from patchwright.workers.web.pages.routes import RunPages
from patchwright.workers.web.request_form import FormRateLimit, RequestFormRoutes
from patchwright.workers.web.sign_in import (
    LOGIN_PATH,
    SignInRoutes,
    make_sign_in_routes,
)
from patchwright.workers.web.webhooks import WebhookSource


def make_request_form(
    settings: Settings,
    stores: Stores,
    *,
    secret: bytes | None,
    sign_in: SignInRoutes | None,
    fetch_permission: FetchPermission,
    offer_to: Callable[[Actor], tuple[str, ...]],
    submit: "Callable[[Delivery], Future[InboxResult]]",
    clock: Clock,
) -> RequestFormRoutes | None:
    """Return the door, or None where nobody can sign in."""
    if sign_in is None or secret is None:
        return None

    def find_job(thread: ForgeThread) -> JobId | None:
        found = stores.threads.conversation_of(thread)
        job = stores.jobs.last_job_of(found) if found else None
        return job.id if job else None

    return RequestFormRoutes(
        secret=secret,
        clock=clock,
        find_viewer=sign_in.sessions.viewer_of,
        may_read=RepositoryAccessCache(fetch_permission, clock).is_allowed,
        submit=submit,
        find_job=find_job,
        offer_to=offer_to,
        forge=SERVICE,
        site=settings.github.web_url,
        rate_limit=FormRateLimit(clock),
        login_path=LOGIN_PATH,
        prefix=urlsplit(settings.server.public_url).path,
    )


log = structlog.get_logger(__name__)


def make_run_pages(
    settings: Settings,
    stores: Stores,
    *,
    secret: bytes | None,
    sign_in: SignInRoutes | None,
    fetch_permission: FetchPermission,
    clock: Clock,
) -> RunPages:
    """Compose them; without a secret no link opens any, and none is given out."""
    if settings.server.public_url and secret is None:
        log.warning("no_links_to_runs", missing="security.session_secret")
    token = settings.security.admin_token
    reader = RunReader(stores.jobs, stores.events, stores.outcomes, stores.effects)
    access = RunAccess(
        secret=secret,
        admin_token=token.get_secret_value() if token else "",
        public_url=settings.server.public_url,
        clock=clock,
        find_viewer=sign_in.sessions.viewer_of if sign_in else _nobody,
        may_read=RepositoryAccessCache(fetch_permission, clock).is_allowed,
        may_write=RepositoryAccessCache(
            fetch_permission, clock, Permission.WRITE
        ).is_allowed,
        is_private=partial(_is_private, stores.threads),
    )
    return RunPages(
        reader=reader,
        access=access,
        live=LiveUpdates(reader, stores.events.notifier, clock),
        clock=clock,
        site=settings.github.web_url,
        login_path=LOGIN_PATH if sign_in else "",
    )


def _is_private(threads: ThreadStore, job: Job) -> bool:
    """Tell whether its log has words from where no code lives."""
    linked = (one.ref for one in threads.threads_of(job.conversation_id))
    return any(isinstance(one, TalkThread) for one in (job.trigger.thread, *linked))


def _nobody(_request: object) -> None:
    """Tell that nobody is signed in where nobody can be."""


def make_sign_in(
    settings: Settings, secret: bytes | None, clock: Clock
) -> SignInRoutes | None:
    """Return the door for people, or None where nobody can sign in."""
    github = settings.github
    if not (github.client_id and github.client_secret):
        return None
    public_url = settings.server.public_url
    if not public_url:
        log.warning("sign_in_off", missing="server.public_url")
        return None
    if secret is None:
        log.warning("sign_in_off", missing="security.session_secret")
        return None
    provider = SignIn(
        connection=make_github_connection(github),
        client_id=github.client_id,
        client_secret=github.client_secret,
        redirect_uri=public_url + CALLBACK_PATH,
        clock=clock,
    )
    return make_sign_in_routes(
        provider,
        secret,
        clock,
        secure=public_url.startswith("https:"),
        prefix=urlsplit(public_url).path,
    )


# Takes whether deliveries can be stored.
MakeWebHealth = Callable[[Callable[[], bool]], Health]


@dataclass(frozen=True)
class Website:
    """The web side of a process, and what tells how it is."""

    app: WebApp
    reporter: Reporter


def make_website(
    base: ServiceParts, judge: MakeWebHealth | None = None, role: Role = Role.WEB
) -> Website:
    """Compose the web side; `judge` says what else its process is judged by."""
    base.meters.registry.register(ServiceMetrics(base.database, base.clock))
    dispatcher = Dispatcher(base.submit)
    recorder = Recorder(base.stores.events, RandomIds())
    inbox = Inbox(base.database, recorder, dispatcher.dispatch)
    base.meters.watch_intake(lambda: inbox.waiting)
    health = (judge or vitals_of(base).web)(lambda: inbox.is_alive)
    reporter = make_reporter(base, role, health)
    secret = own_session_secret(base)
    sign_in = make_sign_in(base.settings, secret, base.clock)
    edge = WebContext(inbox, page_finder(base), secret)
    talking = make_chat_composition(base)
    doors = base.sites.open_routes(talking, edge)
    ear = GitHubReceiverLookup(base.settings.github, base.github)
    web = WebServices(
        reporter=reporter,
        count_request=base.meters.count_request,
        inbox=inbox,
        dispatcher=dispatcher,
        webhook_sources=_entrances(base, ear, doors),
        background_tasks=(
            *([ear] if base.settings.github.is_configured else []),
            *(one for door in doors.values() for one in door.background_tasks),
        ),
        pages=tuple(one for door in doors.values() for one in door.pages),
        linking=_linking(base, secret, dispatcher),
        clock=base.clock,
        sign_in=sign_in,
        run_pages=_run_pages(base, sign_in),
        asking=_request_form(base, sign_in, talking, inbox),
    )
    return Website(create_app(web), reporter)


def _run_pages(base: ServiceParts, sign_in: SignInRoutes | None) -> RunPages | None:
    return make_run_pages(
        base.settings,
        base.stores,
        secret=own_session_secret(base),
        sign_in=sign_in,
        fetch_permission=base.github.forge.fetch_permission,
        clock=base.clock,
    )


def _request_form(
    base: ServiceParts,
    sign_in: SignInRoutes | None,
    talking: ChatComposition,
    inbox: Inbox,
) -> RequestFormRoutes | None:
    return make_request_form(
        base.settings,
        base.stores,
        secret=own_session_secret(base),
        sign_in=sign_in,
        fetch_permission=base.github.forge.fetch_permission,
        offer_to=partial(talking.repositories.find, ""),
        submit=inbox.submit,
        clock=base.clock,
    )


def _entrances(
    base: ServiceParts, ear: GitHubReceiverLookup, doors: Mapping[str, PluginRoutes]
) -> Mapping[str, WebhookSource]:
    """Return where each service that is configured delivers, by its name."""
    found = {name: door.webhook_source for name, door in doors.items()}
    if base.settings.github.is_configured:
        confirming = EventConfirmation(
            base.github.app,
            base.github.forge,
            base.database,
            partial(_consents, base),
        )
        found[SERVICE] = open_github(base.settings, ear, confirming.confirm)
    return {
        name: webhook_source for name, webhook_source in found.items() if webhook_source
    }


def _consents(base: ServiceParts, person: Actor) -> bool:
    """Tell whether somebody of GitHub lets us act in their name, as GitHub says."""
    github = base.settings.github
    account = base.stores.accounts.known(person, github.api_url)
    if account is None:
        return False
    tokens = make_identity_tokens(github, base.database, base.secrets, base.clock)
    token = tokens.fetch(account)
    asking = make_user_tokens(github, base.clock)
    return token is not None and asking.is_valid(token)


def _linking(
    base: ServiceParts, secret: bytes | None, dispatcher: Dispatcher
) -> LinkingRoutes | None:
    return make_linking_routes(
        base.settings,
        secret,
        base.clock,
        database=base.database,
        accounts=base.stores.accounts,
        secrets=base.secrets,
        tokens=make_identity_tokens(
            base.settings.github, base.database, base.secrets, base.clock
        ),
        dispatch=dispatcher.dispatch,
    )
