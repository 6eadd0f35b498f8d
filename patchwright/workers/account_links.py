"""Links between a person's accounts: names, invitations, mappings and tokens."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from pydantic import SecretStr

from patchwright.core.channel import Offer, Offers
from patchwright.core.clock import Clock
from patchwright.core.errors import AuthenticationError
from patchwright.core.plugin import ForgeAccounts, Plugin
from patchwright.core.settings.model import Settings
from patchwright.core.text.strings import strip_invisible
from patchwright.core.types.people import Actor, PersonalToken
from patchwright.integrations.registry import host_name, service_title
from patchwright.workers.db.database import Database
from patchwright.workers.store.identity_tokens import IdentityTokens
from patchwright.workers.store.secrets import SecretStore

_LONGEST: Final = 80


def service_name(service: str) -> str:
    return service_title(service)


def display_name(actor: Actor) -> str:
    """Return what somebody calls themselves, without what would hide or bend it."""
    name = " ".join(strip_invisible(actor.login)[0].split())
    return name[:_LONGEST] or actor.external_id


def workspace_name(actor: Actor) -> str:
    """Say where in the service an actor is, empty where there is one such place."""
    if not actor.host:
        return ""
    return host_name(actor.service, actor.host)


LINK_PATH: Final = "/link"


def link_address(public_url: str, token: str) -> str:
    return f"{public_url}{LINK_PATH}/{token}"


def invitation_text(actor: Actor, link: str, forge_name: str) -> str:
    return (
        f"I know your account in {service_name(actor.service)}, but not your account "
        f"on {forge_name}. Your permissions there decide what you may ask for.\n\n"
        f"[Link your {forge_name} account]({link}): the link is only for you, please "
        "do not share it. It works once, for 15 minutes, in one browser. Then I "
        "continue with your request."
    )


def invitation_offers(link: str, forge_name: str) -> Offers:
    return (Offer(words=f"Link with {forge_name}", url=link),)


def too_many_links_text(actor: Actor) -> str:
    """Say why there is no further link."""
    return (
        "You got several links in the last hour. Please open the newest one in "
        f"{service_name(actor.service)}, or ask again in an hour."
    )


def renewal_text(link: str, forge_name: str) -> str:
    """Say that what somebody had let us do has come to an end."""
    return (
        f"{forge_name} does not show me your repositories any more, so I cannot list "
        f"them. [Link your account again]({link}), within 15 minutes."
    )


def mapped_person(
    entries: Iterable[Mapping[str, str]],
    actor: Actor,
    is_from_own_site: Callable[[Actor], bool],
    forge: str,
) -> Actor | None:
    """Return who the actor is on the forge by `accounts.map`, the first entry first.

    Ids alone count: what people call themselves, others may call themselves too. An id
    without its place means somebody of the place that is served, whom
    `is_from_own_site` knows; it is asked only then, and may raise `ServiceError`.
    """
    if actor.service == forge or not actor.external_id:
        return None
    full_id = f"{actor.host}/{actor.external_id}"
    for entry in entries:
        named = entry.get(actor.service)
        is_meant = named == full_id or (
            named == actor.external_id and is_from_own_site(actor)
        )
        if is_meant and forge in entry:
            return Actor(service=forge, login=entry[forge].removeprefix("@"))
    return None


def make_forge_accounts(
    plugin: Plugin, settings: Settings, clock: Clock
) -> ForgeAccounts | None:
    """Return the people of the forge, None where it has none who can sign in."""
    return plugin.make_accounts(settings, clock) if plugin.make_accounts else None


def make_identity_tokens(
    plugin: Plugin,
    settings: Settings,
    database: Database,
    secrets: SecretStore,
    clock: Clock,
) -> IdentityTokens:
    """Return the tokens of the forge's people; without a client none is renewed."""
    accounts = make_forge_accounts(plugin, settings, clock)

    def renew(refresh_token: SecretStr) -> PersonalToken:
        if accounts is None:
            raise AuthenticationError(f"nobody can sign in with {plugin.title}")
        return accounts.renew(refresh_token)

    return IdentityTokens(
        database,
        secrets,
        renew,
        clock,
        service=plugin.name,
        host=plugin.describe(settings).account_host,
    )
