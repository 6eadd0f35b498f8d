"""Whether people can be linked at this service, and with what."""

from collections.abc import Callable
from urllib.parse import urlsplit

from patchwright.core.clock import Clock
from patchwright.core.settings.github import GitHubSettings
from patchwright.core.settings.model import Settings
from patchwright.core.types.ids import JobId
from patchwright.core.types.people import Actor
from patchwright.integrations.github.manifest import CALLBACK_PATH
from patchwright.integrations.github.reading.listening import SERVICE
from patchwright.integrations.github.sign_in import SignIn
from patchwright.workers.connections import make_github_connection
from patchwright.workers.db.database import Database
from patchwright.workers.store.accounts import AccountStore
from patchwright.workers.store.identity_tokens import IdentityTokens
from patchwright.workers.store.linking import Linker
from patchwright.workers.store.links import INVITATION_LIFETIME, LinkStore
from patchwright.workers.store.secrets import SecretStore
from patchwright.workers.web.cookies import SignedCookie
from patchwright.workers.web.linking.door import LinkingRoutes


def make_linking_routes(
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
    """Return the door, or None where nobody can prove who they are.

    `signing_in.make_sign_in` says then what is missing for that.
    """
    public_url = settings.server.public_url
    provider = _provider(settings.github, public_url, clock)
    if provider is None or not secret:
        return None
    host = settings.github.api_url

    def find_person(actor: Actor) -> Actor | None:
        return accounts.person_of(actor, SERVICE, host)

    return LinkingRoutes(
        provider=provider,
        links=LinkStore(database, clock),
        linker=Linker(database, accounts, tokens, secrets, clock, host),
        find_person=find_person,
        cookie=_cookie(public_url, secret, clock),
        dispatch=dispatch,
        forge_url=settings.github.web_url,
        prefix=urlsplit(public_url).path,
    )


def _provider(github: GitHubSettings, public_url: str, clock: Clock) -> SignIn | None:
    if not (github.client_id and github.client_secret and public_url):
        return None
    return SignIn(
        connection=make_github_connection(github),
        client_id=github.client_id,
        client_secret=github.client_secret,
        redirect_uri=public_url + CALLBACK_PATH,
        clock=clock,
    )


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
