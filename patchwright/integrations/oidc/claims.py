"""What an OpenID provider says of people: values, and the provider of the settings."""

from datetime import datetime
from typing import Final, Protocol, cast

from patchwright.core.plugin import callback_path, import_later
from patchwright.core.settings.model import Settings
from patchwright.core.system.clock import Clock
from patchwright.core.types.base import Value

# The name of this way to sign in, whoever the provider is.
OIDC: Final = "oidc"


class Claims(Value):
    """Who came back, by the provider's signed word.

    `email` is empty unless the provider has verified it. `groups` is None where the
    claim that was asked for is not in the token.
    """

    subject: str
    name: str
    email: str = ""
    groups: tuple[str, ...] | None = None
    provider_sid: str = ""


class LogoutToken(Value):
    """Whose session a provider ended: of a `subject`, or its own with that id."""

    id: str
    subject: str
    provider_sid: str
    until: datetime


class ProviderFacts(Value):
    """What a provider says of itself, and of us.

    `tells_logout` is true where it tells who signs out. The rest is how it refuses us,
    empty where it does not: a sign-in, and a client that has no code.
    """

    keys: int
    tells_logout: bool
    lacks_pkce: bool
    knows_redirect: bool
    sign_in_refusal: str
    client_refusal: str


class IdentityProvider(Protocol):
    """Signs people in at `issuer`; raises the errors of `core.types.errors`."""

    @property
    def issuer(self) -> str:
        """The provider's name, which is its address."""
        ...

    @property
    def redirect_uri(self) -> str:
        """The address to which it sends people back."""
        ...

    def address(self, state: str, verifier: str) -> str:
        """Return where a browser is sent to sign in."""
        ...

    def fetch_claims(self, code: str, verifier: str) -> Claims:
        """Return who came back with that code."""
        ...

    def read_logout(self, token: str) -> LogoutToken:
        """Return whose session is over by a token that the provider has signed."""
        ...

    def examine(self) -> ProviderFacts:
        """Ask what it can do, and whether it knows us, without signing in."""
        ...

    def end_session_address(self, back: str) -> str:
        """Return where people sign out there, empty where they cannot."""
        ...


# Its libraries take four megabytes, and few installations have a provider.
_make: Final = import_later("patchwright.integrations.oidc.provider:OidcProvider")


def make_provider(settings: Settings, clock: Clock) -> IdentityProvider | None:
    """Return the provider of the settings, None where there is none."""
    oidc, public_url = settings.oidc, settings.server.public_url
    if not oidc.is_configured or not public_url:
        return None
    provider = _make(
        issuer=oidc.issuer,
        client_id=oidc.client_id,
        client_secret=oidc.client_secret,
        scopes=oidc.scopes,
        redirect_uri=public_url + callback_path(OIDC),
        clock=clock,
        group_claim=oidc.group_claim if oidc.admin_group else "",
    )
    return cast("IdentityProvider", provider)
