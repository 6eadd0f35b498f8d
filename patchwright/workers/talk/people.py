"""Who people of other services are on the forge, and how they are asked."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from patchwright.core.settings.model import Settings
from patchwright.core.types.people import Actor
from patchwright.integrations.github.reading.listening import SERVICE
from patchwright.resolver.delivering.destination import Invitation
from patchwright.workers.linking.invitation import (
    invitation_offers,
    invitation_text,
    link_address,
    too_many_links_text,
    renewal_text,
)
from patchwright.workers.linking.mapping import mapped_person
from patchwright.workers.store.accounts import AccountStore
from patchwright.workers.store.choices import account_scope
from patchwright.workers.store.links import LinkStore

_FORGE: Final = "GitHub"


def with_name_unchanged(actor: Actor) -> Actor:
    return actor


def is_from_no_own_site(actor: Actor) -> bool:  # noqa: ARG001 - true of everybody
    return False


@dataclass(frozen=True)
class PersonDirectory:
    """Knows people by the administrators' word, or else by what they have shown.

    `named` finds the name by which others know somebody whom a delivery tells by id;
    `is_at_home` tells whether somebody is of the one place that is served there.
    """

    settings: Settings
    accounts: AccountStore
    links: LinkStore
    resolve_name: Callable[[Actor], Actor] = with_name_unchanged
    is_from_own_site: Callable[[Actor], bool] = is_from_no_own_site

    @property
    def can_invite(self) -> bool:
        """Whether there is a page here where people show who they are."""
        github = self.settings.github
        can_sign_in = github.client_id and github.client_secret
        return bool(can_sign_in and self.settings.server.public_url)

    def find(self, actor: Actor) -> Actor | None:
        """Return who somebody is on the forge, None if nobody knows."""
        if actor.service == SERVICE:
            return actor
        mapped = mapped_person(self.settings.accounts.map, actor, self.is_from_own_site)
        return mapped or self.accounts.person_of(actor, SERVICE, self._host)

    def invite(self, actor: Actor) -> Invitation | None:
        """Make a link that counts once; None where there is no page for it.

        Who gets no more of them hears that once: each word may be a mail.
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
            text=invitation_text(actor, link, _FORGE),
            offers=invitation_offers(link, _FORGE),
        )

    def renew(self, actor: Actor) -> Invitation | None:
        """Make a link for somebody whose earlier word counts no more."""
        token = self.links.invite(self.resolve_name(actor)) if self.can_invite else None
        if token is None:
            return None
        link = link_address(self.settings.server.public_url, token)
        return Invitation(
            text=renewal_text(link, _FORGE), offers=invitation_offers(link, _FORGE)
        )

    def scope_of(self, person: Actor) -> str:
        """Return the name under which a person's own choices are kept."""
        return account_scope(self.accounts.account_of(person, self._host))

    @property
    def _host(self) -> str:
        return self.settings.github.api_url
