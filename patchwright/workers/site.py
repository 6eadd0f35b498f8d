"""The web side of a process."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from patchwright.core.types.ids import RandomIds
from patchwright.core.types.people import Actor
from patchwright.integrations.github.reading.listening import SERVICE
from patchwright.workers.asking import make_request_form
from patchwright.workers.compose import open_github
from patchwright.workers.confirming import EventConfirmation
from patchwright.workers.github_ear import GitHubReceiverLookup
from patchwright.workers.intake.dispatcher import Dispatcher
from patchwright.workers.intake.intake import Inbox
from patchwright.workers.intake.record import Recorder
from patchwright.workers.linking.tokens import make_identity_tokens, make_user_tokens
from patchwright.workers.ops.figures import ServiceMetrics
from patchwright.workers.ops.health import Health
from patchwright.workers.ops.reporter import Reporter
from patchwright.workers.process import (
    ServiceParts,
    make_reporter,
    make_chat_composition,
    own_session_secret,
    page_finder,
    vitals_of,
)
from patchwright.workers.roles import Role
from patchwright.workers.run_pages import make_run_pages
from patchwright.workers.signing_in import make_sign_in
from patchwright.workers.talk.compose import ChatComposition
from patchwright.workers.talk.sides import PluginRoutes, WebContext
from patchwright.workers.web.app import WebServices as WebServices
from patchwright.workers.web.app import WebApp, create_app
from patchwright.workers.web.asking.door import RequestFormRoutes
from patchwright.workers.web.linking.door import LinkingRoutes
from patchwright.workers.web.linking.opening import make_linking_routes
from patchwright.workers.web.pages.routes import RunPages
from patchwright.workers.web.receiver import WebhookSource
from patchwright.workers.web.sign_in import SignInRoutes

# Takes whether deliveries can be stored.
MakeWebHealth = Callable[[Callable[[], bool]], Health]


@dataclass(frozen=True)
class Website:
    """The web side of a process, and what tells how it is."""

    app: WebApp
    reporter: Reporter


def make_website(base: ServiceParts, judge: MakeWebHealth | None = None, role: Role = Role.WEB) -> Website:
    """Compose the web side; `judge` says what else its process is judged by."""
    base.meters.registry.register(ServiceMetrics(base.database, base.clock))
    dispatcher = Dispatcher(base.submit)
    recorder = Recorder(base.stores.events, RandomIds())
    intake = Inbox(base.database, recorder, dispatcher.dispatch)
    base.meters.watch_intake(lambda: intake.waiting)
    health = (judge or vitals_of(base).web)(lambda: intake.is_alive)
    reporter = make_reporter(base, role, health)
    secret = own_session_secret(base)
    sign_in = make_sign_in(base.settings, secret, base.clock)
    edge = WebContext(intake, page_finder(base), secret)
    talking = make_chat_composition(base)
    doors = base.sites.open_routes(talking, edge)
    ear = GitHubReceiverLookup(base.settings.github, base.github)
    web = WebServices(
        reporter=reporter,
        count_request=base.meters.count_request,
        intake=intake,
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
        asking=_request_form(base, sign_in, talking, intake),
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
    base: ServiceParts, sign_in: SignInRoutes | None, talking: ChatComposition, intake: Inbox
) -> RequestFormRoutes | None:
    return make_request_form(
        base.settings,
        base.stores,
        secret=own_session_secret(base),
        sign_in=sign_in,
        fetch_permission=base.github.forge.fetch_permission,
        offer_to=partial(talking.repositories.find, ""),
        submit=intake.submit,
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
    return {name: webhook_source for name, webhook_source in found.items() if webhook_source}


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
