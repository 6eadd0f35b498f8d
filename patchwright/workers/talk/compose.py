"""Put together what talks to people where no code lives."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, partial

import structlog

from patchwright.core.clock import Clock
from patchwright.core.errors import ServiceError
from patchwright.core.forge import Forge
from patchwright.core.settings.model import Settings
from patchwright.core.types.ids import JobId, RandomIds
from patchwright.core.types.people import Actor
from patchwright.integrations.github.readable import fetch_readable_repositories
from patchwright.integrations.github.reading.listening import SERVICE as FORGE
from patchwright.integrations.jira.listening import Listening as JiraListening
from patchwright.integrations.jira.receiver import ID_HEADER
from patchwright.integrations.jira.receiver import Receiver as JiraReceiver
from patchwright.integrations.slack.actions import SERVICE as SLACK
from patchwright.integrations.slack.receiver import Receiver as SlackReceiver
from patchwright.integrations.slack.receiver import SocketReceiver, delivery_id
from patchwright.integrations.slack.webhook import Listening as SlackListening
from patchwright.workers.connections import connection_to
from patchwright.workers.db.database import Database
from patchwright.workers.linking.tokens import make_identity_tokens
from patchwright.workers.run.permissions import Remembered
from patchwright.workers.run.services import Stores
from patchwright.workers.run.talk import Talk
from patchwright.workers.store.choices import ChoiceStore
from patchwright.workers.store.links import LinkStore
from patchwright.workers.store.secrets import SecretStore
from patchwright.workers.store.tying import TyingStore
from patchwright.workers.talk.people import People
from patchwright.workers.talk.places import (
    find_places,
    mapped_repositories,
    recent_repositories,
)
from patchwright.workers.talk.repositories import RepositorySearch
from patchwright.workers.talk.sites import Sites
from patchwright.workers.talk.slack_front import SlackFront
from patchwright.workers.web.receiver import Entrance, by_header

# Slack and Jira send no file along: what they say is small.
MAX_BODY_BYTES = 1024 * 1024
_OFFERED_AT_ONCE = 5

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Talking:
    """Makes the parts, which have most of their own parts in common."""

    settings: Settings
    clock: Clock
    database: Database
    stores: Stores
    secrets: SecretStore
    sites: Sites
    forge: Forge

    @cached_property
    def people(self) -> People:
        links = LinkStore(self.database, self.clock)
        return People(self.settings, self.stores.accounts, links, self._named)

    @cached_property
    def repositories(self) -> RepositorySearch:
        return RepositorySearch(
            FORGE,
            mapped_repositories(self.settings),
            partial(recent_repositories, self.stores.threads),
            permission=Remembered(self.forge, self.clock.monotonic).permission,
            search=self._search,
        )

    @cached_property
    def choices(self) -> ChoiceStore:
        return ChoiceStore(self.database)

    def talk(self) -> Talk:
        people = self.people
        return Talk(
            find_person=people.find,
            can_invite=people.can_invite,
            invite=people.invite,
            find_places=partial(find_places, self.settings, self.stores.threads),
            offer_to=lambda person: self.repositories.find("", person)[
                :_OFFERED_AT_ONCE
            ],
            scope_of=people.scope_of,
            choices=self.choices,
            ties=TyingStore(self.database, self.stores.events, RandomIds()),
        )

    def slack_entrance(
        self, find_page: Callable[[JobId, datetime], str], *, by_socket: bool = False
    ) -> Entrance | None:
        """Return the door for Slack, or the one behind a connection of our own."""
        slack, settings = self.sites.slack, self.settings.slack
        if slack is None or not (by_socket or settings.signing_secret):
            return None
        listening = SlackListening(command=settings.command)
        secret = settings.signing_secret
        return Entrance(
            receiver=SocketReceiver(listening)
            if by_socket
            else SlackReceiver(secret, listening, self.clock),
            identify=delivery_id,
            max_body_bytes=MAX_BODY_BYTES,
            front=SlackFront(
                slack,
                self.people,
                self.choices,
                self.stores.jobs,
                self.repositories,
                find_page,
                self.clock,
            ),
            is_silent=True,
        )

    def jira_entrance(self) -> Entrance | None:
        """Return the door for Jira, None where its deliveries are not signed."""
        secret = self.settings.jira.webhook_secret
        if self.sites.jira is None or not secret:
            return None
        return Entrance(
            receiver=JiraReceiver(secret, self.jira_listening),
            identify=by_header(ID_HEADER),
            max_body_bytes=MAX_BODY_BYTES,
        )

    @cached_property
    def jira_listening(self) -> JiraListening:
        jira = self.settings.jira
        return JiraListening(
            host=jira.host,
            projects=frozenset(jira.projects),
            mention=jira.mention,
            label=jira.label,
            own_ids=self._own_ids_in_jira(),
        )

    def _named(self, actor: Actor) -> Actor:
        """Return somebody by their name; Jira's deliveries tell it, Slack's do not."""
        if actor.service != SLACK or self.sites.slack is None:
            return actor
        try:
            return self.sites.slack.name_person(actor)
        except ServiceError as error:
            log.warning("name_unknown", reason=error.reason)
            return actor

    def _own_ids_in_jira(self) -> frozenset[str]:
        """Ask who we are, to be called by that name and not to answer ourselves.

        Raises `ServiceError`: without it we could talk to ourselves for ever.
        """
        if self.sites.jira is None:
            return frozenset()
        return frozenset({self.sites.jira.fetch_identity().external_id})

    def _search(self, person: Actor, query: str) -> tuple[str, ...]:
        """Look among what the person sees with a token of their own, if we have it."""
        github, clock = self.settings.github, self.clock
        account = self.stores.accounts.account_of(person, github.api_url)
        tokens = make_identity_tokens(github, self.database, self.secrets, clock)
        token = tokens.fetch(account)
        if token is None:
            return ()
        connection = connection_to(github)
        try:
            return fetch_readable_repositories(connection, token, query, clock=clock)
        except ServiceError as error:
            log.warning("own_repositories_unknown", reason=error.reason)
            return ()
