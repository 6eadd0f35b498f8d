"""Who sends a request to our pages or our API, and what they may do here."""

from enum import StrEnum

from patchwright.core.types.base import AccountId, Value
from patchwright.core.types.people import OPERATOR, Actor


class Role(StrEnum):
    """What an account may do, from least to most.

    A viewer reads what the forge lets them read, and changes nothing. A member may
    also steer runs, as the forge allows it. An admin may do anything.
    """

    VIEWER = "viewer"
    MEMBER = "member"
    ADMIN = "admin"

    def allows(self, needed: "Role") -> bool:
        order = list(Role)
        return order.index(self) >= order.index(needed)


class SignedInBy(StrEnum):
    """How somebody has shown who they are."""

    SESSION = "session"
    API_TOKEN = "api-token"  # noqa: S105 - a word, no token
    ADMIN_TOKEN = "admin-token"  # noqa: S105 - a word, no token


class Principal(Value):
    """Somebody who was recognized, by whatever they have shown.

    `identity` is who they are on the forge, None where that is not known; `account_id`
    is None for the holder of `security.admin_token`. An API token may hold less than
    its account: `role` is what counts for this request.
    """

    name: str
    role: Role
    signed_in_by: SignedInBy
    account_id: AccountId | None = None
    identity: Actor | None = None

    @property
    def is_admin(self) -> bool:
        return self.role is Role.ADMIN

    @property
    def key(self) -> str:
        """What tells them from everybody else, such as for a limit or in a form."""
        if self.account_id is not None:
            return f"account:{self.account_id}"
        if self.identity is not None:
            return f"{self.identity.service}:{self.identity.subject}"
        return str(self.signed_in_by)

    @property
    def as_operator(self) -> Actor:
        """The administrator as one who may do anything with any run."""
        name = f"the administrator {self.name}" if self.name else "an administrator"
        return Actor(service=OPERATOR, login=name, external_id=self.key)
