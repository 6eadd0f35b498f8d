"""Who people of other services are on the forge, and what their requests need."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Final

import structlog
from pydantic import SecretStr

from patchwright.core.channel import Offer, Offers
from patchwright.core.forge import Forge
from patchwright.core.plugin import (
    ForgeAccounts,
    Plugin,
    ServiceDirectory,
    ServiceProfile,
)
from patchwright.core.settings.model import Settings
from patchwright.core.system.clock import Clock
from patchwright.core.text.strings import strip_invisible
from patchwright.core.types.base import AccountId
from patchwright.core.types.errors import AuthenticationError, ServiceError
from patchwright.core.types.people import Actor, PersonalToken
from patchwright.integrations.registry import host_name, service_title
from patchwright.resolver.access import PermissionCache
from patchwright.resolver.publish.destination import Invitation
from patchwright.resolver.repository_references import ReferenceScope, TrackerScope
from patchwright.resolver.services import ChatServices
from patchwright.workers.db.database import Database
from patchwright.workers.plugins.repository_search import RepositorySearch
from patchwright.workers.store.account_links import LinkStore
from patchwright.workers.store.accounts import AccountStore
from patchwright.workers.store.choices import ChoiceStore, account_scope
from patchwright.workers.store.identity_tokens import IdentityTokens
from patchwright.workers.store.run_store import Stores
from patchwright.workers.store.secrets import SecretStore
from patchwright.workers.store.threads import ThreadStore

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
        f"[Link your {forge_name} account]({link}) to your account in "
        f"{service_name(actor.service)}, so that I can check your access.\n\n"
        "The link is only for you. It works once and expires in 15 minutes. Then I "
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


def sign_in_text(address: str, forge_name: str) -> str:
    """Ask somebody on the forge to sign in; anybody may read it and open the page."""
    return (
        f"Please [sign in with {forge_name}]({address}) once: this service works only "
        "for people with an account. Then I continue with your request."
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


def with_name_unchanged(actor: Actor) -> Actor:
    return actor


def is_from_no_own_site(actor: Actor) -> bool:  # noqa: ARG001 - true of everybody
    return False


@dataclass(frozen=True)
class PersonDirectory:
    """Knows people by the administrators' word, or else by what they have shown.

    `named` finds the name by which others know somebody whom a delivery tells by id;
    `is_from_own_site` tells whether somebody is of the one place that is served there.
    """

    settings: Settings
    accounts: AccountStore
    links: LinkStore
    forge: ServiceProfile
    resolve_name: Callable[[Actor], Actor] = with_name_unchanged
    is_from_own_site: Callable[[Actor], bool] = is_from_no_own_site

    @property
    def can_invite(self) -> bool:
        """Whether there is a page here where people show who they are."""
        return self.forge.can_sign_in and bool(self.settings.server.public_url)

    def find(self, actor: Actor) -> Actor | None:
        """Return who somebody is on the forge, None if nobody knows."""
        if actor.service == self.forge.name:
            return actor
        mapped = mapped_person(
            self.settings.accounts.map, actor, self.is_from_own_site, self.forge.name
        )
        return mapped or self.accounts.person_of(
            actor, self.forge.name, self.forge.account_host
        )

    def invite(self, actor: Actor) -> Invitation | None:
        """Make a link that works once; None if there is no page for it.

        A person who got too many is told once, because each message may be an e-mail.
        """
        if not self.can_invite:
            return None
        actor = self.resolve_name(actor)
        token = self.links.invite(actor)
        if token is None:
            is_new = self.links.count_refused(actor) == 1
            return Invitation(text=too_many_links_text(actor)) if is_new else None
        link = link_address(self.settings.server.public_url, token)
        return Invitation(
            text=invitation_text(actor, link, self.forge.title),
            offers=invitation_offers(link, self.forge.title),
        )

    def renew(self, actor: Actor) -> Invitation | None:
        """Make a link for a person whose earlier link is not valid any more."""
        token = self.links.invite(self.resolve_name(actor)) if self.can_invite else None
        if token is None:
            return None
        link = link_address(self.settings.server.public_url, token)
        return Invitation(
            text=renewal_text(link, self.forge.title),
            offers=invitation_offers(link, self.forge.title),
        )

    def ask_to_sign_in(self, actor: Actor) -> str:
        """Return what to tell somebody who needs an account first; empty for others.

        They prove that they are whom the forge says they are, so that the address is
        no secret. People of other services link an account anyway.
        """
        is_required = self.settings.accounts.linking == "required"
        if not is_required or actor.service != self.forge.name or not self.can_invite:
            return ""
        if self.accounts.has_signed_in(actor, self.forge.account_host):
            return ""
        address = f"{self.settings.server.public_url}/auth/{self.forge.name}/login"
        return sign_in_text(address, self.forge.title)

    def scope_of(self, person: Actor) -> str:
        """Return the name under which a person's own choices are stored."""
        return account_scope(self.accounts.account_of(person, self.forge.account_host))


def find_places(threads: ThreadStore, directory: ServiceDirectory) -> ReferenceScope:
    forge = directory.forge
    recent = (repo.full_name for repo in threads.newest_repositories(forge.name))
    return ReferenceScope(
        forge=forge.name,
        web_url=forge.web_url,
        forms=forge.forms,
        known=tuple(dict.fromkeys([*directory.mapped_repositories, *recent])),
        trackers=tuple(
            TrackerScope(
                service=one.name,
                url=one.web_url,
                host=one.ticket_host,
                projects=tuple(one.repositories),
            )
            for one in directory.trackers
        ),
    )


_OFFERED_AT_ONCE = 5

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class ChatComposition:
    """Makes the parts, which have most of their own parts in common.

    `named` and `is_from_own_site` are those of `People`.
    """

    settings: Settings
    clock: Clock
    database: Database
    stores: Stores
    secrets: SecretStore
    plugin: Plugin
    directory: ServiceDirectory
    forge: Forge
    resolve_name: Callable[[Actor], Actor]
    is_from_own_site: Callable[[Actor], bool]

    @cached_property
    def people(self) -> PersonDirectory:
        links = LinkStore(self.database, self.clock)
        return PersonDirectory(
            self.settings,
            self.stores.accounts,
            links,
            self._profile,
            self.resolve_name,
            self.is_from_own_site,
        )

    @cached_property
    def repositories(self) -> RepositorySearch:
        return RepositorySearch(
            self.plugin.name,
            self.directory.mapped_repositories,
            partial(self.stores.threads.newest_repositories, self.plugin.name),
            permission=PermissionCache(self.forge, self.clock.monotonic).permission,
            search=self._search,
        )

    @cached_property
    def choices(self) -> ChoiceStore:
        return ChoiceStore(self.database)

    def chat_services(self) -> ChatServices:
        people = self.people
        return ChatServices(
            find_person=people.find,
            can_invite=people.can_invite,
            invite=people.invite,
            renew=people.renew,
            needs_renewal=self._needs_renewal,
            find_places=partial(find_places, self.stores.threads, self.directory),
            offer_to=lambda person: self.repositories.find("", person)[
                :_OFFERED_AT_ONCE
            ],
            scope_of=people.scope_of,
            choices=self.choices,
            ask_to_sign_in=people.ask_to_sign_in,
        )

    @cached_property
    def _profile(self) -> ServiceProfile:
        return self.directory.forge

    @cached_property
    def _accounts(self) -> ForgeAccounts | None:
        return make_forge_accounts(self.plugin, self.settings, self.clock)

    @cached_property
    def tokens(self) -> IdentityTokens:
        return make_identity_tokens(
            self.plugin, self.settings, self.database, self.secrets, self.clock
        )

    def _needs_renewal(self, person: Actor) -> bool:
        return self.tokens.claim_report(self._account_of(person))

    def _account_of(self, person: Actor) -> AccountId:
        return self.stores.accounts.account_of(person, self._profile.account_host)

    def _search(self, person: Actor, query: str) -> tuple[str, ...]:
        """Look among what the person sees with a token of their own, if we have it."""
        token = self.tokens.fetch(self._account_of(person))
        if token is None or self._accounts is None:
            return ()
        try:
            return self._accounts.fetch_readable(token, query)
        except ServiceError as error:
            log.warning("own_repositories_unknown", reason=error.reason)
            return ()
