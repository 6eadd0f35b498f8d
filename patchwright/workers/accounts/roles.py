"""Which role somebody has: by the settings, their provider, or an admin's word."""

from collections.abc import Iterable
from enum import StrEnum

from patchwright.core.types.base import AccountId, Value
from patchwright.core.types.people import Actor
from patchwright.integrations.oidc.claims import OIDC
from patchwright.workers.accounts.principal import Role


class RoleSource(StrEnum):
    """Who gave somebody a role."""

    DEFAULT = ""
    PROVIDER = "provider"
    PERSON = "person"


class GivenRole(Value):
    role: Role
    source: RoleSource = RoleSource.DEFAULT


class Identity(Value):
    """Who somebody is at one service; `email` is verified by the provider."""

    id: str
    service: str
    host: str
    subject: str
    login: str
    email: str = ""

    @property
    def is_of_provider(self) -> bool:
        return self.service == OIDC

    def is_named(self, names: Iterable[str]) -> bool:
        """Tell whether it is among `SERVICE:WHO`, in any case.

        Somebody is named by their login at a forge, where the forge hands these out. At
        a provider people may choose what they are called, so there the subject or a
        verified address counts.
        """
        words = (self.subject, self.email) if self.is_of_provider else (self.login,)
        own = {f"{self.service}:{word}".casefold() for word in words if word}
        return any(name.casefold() in own for name in names)


class Account(Value):
    """A person; `given` is the role that is stored, `role` the one that counts."""

    id: AccountId
    name: str
    given: GivenRole
    role: Role
    identities: tuple[Identity, ...]

    @property
    def key(self) -> str:
        """The key of principals who have this account."""
        return f"account:{self.id}"

    def identity_at(self, service: str, host: str) -> Actor | None:
        """Return who they are on a forge, None if they have not shown that."""
        for one in self.identities:
            if (one.service, one.host) == (service, host):
                external_id = "" if one.subject.startswith("login:") else one.subject
                return Actor(service=service, login=one.login, external_id=external_id)
        return None


def weaker(one: Role, other: Role) -> Role:
    return other if one.allows(other) else one


def role_at_sign_in(
    given: GivenRole, default: Role, *, is_provider_admin: bool | None
) -> GivenRole:
    """Return the role after a sign-in at a provider that says who is an admin.

    `is_provider_admin` is None where it says nothing. What the provider gave it takes
    back; what an admin gave stays.
    """
    if is_provider_admin:
        return GivenRole(role=Role.ADMIN, source=RoleSource.PROVIDER)
    if is_provider_admin is False and given.source is RoleSource.PROVIDER:
        return GivenRole(role=default)
    return given


def merged_role(one: GivenRole, other: GivenRole) -> GivenRole:
    """Return the role of somebody who had two accounts.

    A second account is no way around the role of a viewer.
    """
    both = sorted((one, other), key=lambda given: list(Role).index(given.role))
    return both[0] if both[0].role is Role.VIEWER else both[-1]
