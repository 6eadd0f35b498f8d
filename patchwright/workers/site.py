"""The web side of a process."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from patchwright.core.types.ids import RandomIds
from patchwright.core.types.people import Actor
from patchwright.integrations.github.reading.listening import SERVICE
from patchwright.workers.asking import make_asking
from patchwright.workers.compose import open_github
from patchwright.workers.confirming import Confirming
from patchwright.workers.github_ear import GitHubEar
from patchwright.workers.intake.dispatcher import Dispatcher
from patchwright.workers.intake.intake import Intake
from patchwright.workers.intake.record import Recorder
from patchwright.workers.linking.tokens import make_identity_tokens, make_user_tokens
from patchwright.workers.ops.figures import SharedFigures
from patchwright.workers.ops.health import Health
from patchwright.workers.ops.reporter import Reporter
from patchwright.workers.process import (
    Base,
    make_reporter,
    make_talking,
    own_session_secret,
    page_finder,
    vitals_of,
)
from patchwright.workers.roles import Role
from patchwright.workers.run_pages import make_run_pages
from patchwright.workers.signing_in import make_sign_in
from patchwright.workers.talk.compose import Talking
from patchwright.workers.talk.sides import Doors, Edge
from patchwright.workers.web.app import Services as WebServices
from patchwright.workers.web.app import WebApp, create_app
from patchwright.workers.web.asking.door import AskingDoor
from patchwright.workers.web.linking.door import LinkingDoor
from patchwright.workers.web.linking.opening import open_linking
from patchwright.workers.web.pages.routes import RunPages
from patchwright.workers.web.receiver import Entrance
from patchwright.workers.web.sign_in import SignInDoor

# Takes whether deliveries can be stored.
JudgeWeb = Callable[[Callable[[], bool]], Health]


@dataclass(frozen=True)
class Site:
    """The web side of a process, and what tells how it is."""

    app: WebApp
    reporter: Reporter


def make_site(base: Base, judge: JudgeWeb | None = None, role: Role = Role.WEB) -> Site:
    """Compose the web side; `judge` says what else its process is judged by."""
    base.meters.registry.register(SharedFigures(base.database, base.clock))
    dispatcher = Dispatcher(base.submit)
    recorder = Recorder(base.stores.events, RandomIds())
    intake = Intake(base.database, recorder, dispatcher.dispatch)
    base.meters.watch_intake(lambda: intake.waiting)
    health = (judge or vitals_of(base).web)(lambda: intake.is_alive)
    reporter = make_reporter(base, role, health)
    secret = own_session_secret(base)
    sign_in = make_sign_in(base.settings, secret, base.clock)
    edge = Edge(intake, page_finder(base), secret)
    talking = make_talking(base)
    doors = base.sites.open_doors(talking, edge)
    ear = GitHubEar(base.settings.github, base.github)
    web = WebServices(
        reporter=reporter,
        count_request=base.meters.count_request,
        intake=intake,
        dispatcher=dispatcher,
        entrances=_entrances(base, ear, doors),
        companions=(
            *([ear] if base.settings.github.is_configured else []),
            *(one for door in doors.values() for one in door.companions),
        ),
        pages=tuple(one for door in doors.values() for one in door.pages),
        linking=_linking(base, secret, dispatcher),
        clock=base.clock,
        sign_in=sign_in,
        run_pages=_run_pages(base, sign_in),
        asking=_asking(base, sign_in, talking, intake),
    )
    return Site(create_app(web), reporter)


def _run_pages(base: Base, sign_in: SignInDoor | None) -> RunPages | None:
    return make_run_pages(
        base.settings,
        base.stores,
        secret=own_session_secret(base),
        sign_in=sign_in,
        fetch_permission=base.github.forge.fetch_permission,
        clock=base.clock,
    )


def _asking(
    base: Base, sign_in: SignInDoor | None, talking: Talking, intake: Intake
) -> AskingDoor | None:
    return make_asking(
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
    base: Base, ear: GitHubEar, doors: Mapping[str, Doors]
) -> Mapping[str, Entrance]:
    """Return where each service that is configured delivers, by its name."""
    found = {name: door.entrance for name, door in doors.items()}
    if base.settings.github.is_configured:
        confirming = Confirming(
            base.github.app,
            base.github.forge,
            base.database,
            partial(_consents, base),
        )
        found[SERVICE] = open_github(base.settings, ear, confirming.confirm)
    return {name: entrance for name, entrance in found.items() if entrance}


def _consents(base: Base, person: Actor) -> bool:
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
    base: Base, secret: bytes | None, dispatcher: Dispatcher
) -> LinkingDoor | None:
    return open_linking(
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
