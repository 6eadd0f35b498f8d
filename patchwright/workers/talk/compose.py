"""Put together what talks to people where no code lives."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import structlog

from patchwright.core.clock import Clock
from patchwright.core.errors import ServiceError
from patchwright.core.forge import Forge
from patchwright.core.settings.model import Settings
from patchwright.core.types.ids import AccountId, RandomIds
from patchwright.core.types.people import Actor
from patchwright.integrations.github.readable import fetch_readable_repositories
from patchwright.integrations.github.reading.listening import SERVICE as FORGE
from patchwright.workers.connections import make_github_connection
from patchwright.workers.db.database import Database
from patchwright.workers.linking.tokens import make_identity_tokens
from patchwright.workers.run.permissions import PermissionCache
from patchwright.workers.run.services import Stores
from patchwright.workers.run.talk import ChatServices
from patchwright.workers.store.choices import ChoiceStore
from patchwright.workers.store.identity_tokens import IdentityTokens
from patchwright.workers.store.links import LinkStore
from patchwright.workers.store.secrets import SecretStore
from patchwright.workers.store.tying import ConversationLinkStore
from patchwright.workers.talk.people import PersonDirectory
from patchwright.workers.talk.places import (
    find_places,
    mapped_repositories,
)
from patchwright.workers.talk.repositories import RepositorySearch

_OFFERED_AT_ONCE = 5

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class ChatComposition:
    """Makes the parts, which have most of their own parts in common.

    `named` and `is_at_home` are those of `People`.
    """

    settings: Settings
    clock: Clock
    database: Database
    stores: Stores
    secrets: SecretStore
    forge: Forge
    resolve_name: Callable[[Actor], Actor]
    is_from_own_site: Callable[[Actor], bool]

    @cached_property
    def people(self) -> PersonDirectory:
        links = LinkStore(self.database, self.clock)
        return PersonDirectory(
            self.settings, self.stores.accounts, links, self.resolve_name, self.is_from_own_site
        )

    @cached_property
    def repositories(self) -> RepositorySearch:
        return RepositorySearch(
            FORGE,
            mapped_repositories(self.settings),
            partial(self.stores.threads.newest_repositories, FORGE),
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
            find_places=partial(find_places, self.settings, self.stores.threads),
            offer_to=lambda person: self.repositories.find("", person)[
                :_OFFERED_AT_ONCE
            ],
            scope_of=people.scope_of,
            choices=self.choices,
            conversation_links=ConversationLinkStore(self.database, self.stores.events, RandomIds()),
        )

    @cached_property
    def _tokens(self) -> IdentityTokens:
        return make_identity_tokens(
            self.settings.github, self.database, self.secrets, self.clock
        )

    def _needs_renewal(self, person: Actor) -> bool:
        return self._tokens.claim_report(self._account_of(person))

    def _account_of(self, person: Actor) -> AccountId:
        host = self.settings.github.api_url
        return self.stores.accounts.account_of(person, host)

    def _search(self, person: Actor, query: str) -> tuple[str, ...]:
        """Look among what the person sees with a token of their own, if we have it."""
        github, clock = self.settings.github, self.clock
        token = self._tokens.fetch(self._account_of(person))
        if token is None:
            return ()
        connection = make_github_connection(github)
        try:
            return fetch_readable_repositories(connection, token, query, clock=clock)
        except ServiceError as error:
            log.warning("own_repositories_unknown", reason=error.reason)
            return ()
