"""Who asked, what they may do, and what they let the bot do in their name."""

import re
from datetime import datetime
from enum import StrEnum
from typing import Final

from pydantic import SecretStr

from patchwright.core.types.base import Value

# Begins the subject of those whom a service knows by their login alone.
BY_LOGIN: Final = "login:"
_CALL: Final = re.compile(r"@([A-Za-z0-9](?:[\w.-]{0,98}[A-Za-z0-9])?)", re.ASCII)


def login_in_mention(who: str) -> str:
    """Return the login of `@login`; empty for whatever else says who did something."""
    found = _CALL.fullmatch(who)
    return found[1] if found else ""


# The service of those who run Patchwright itself: no other service has that name.
OPERATOR: Final = "operator"


class Actor(Value):
    """A person or app on a service, as that service names it.

    `host` is the workspace or site, where `external_id` counts for one of many. An
    operator or administrator of Patchwright itself may do anything with any run; only
    our own command line, pages and API make such an actor.
    """

    service: str
    login: str
    external_id: str = ""
    is_bot: bool = False
    host: str = ""

    @property
    def subject(self) -> str:
        """What the service knows them by, whatever they call themselves."""
        return self.external_id or f"{BY_LOGIN}{self.login.casefold()}"

    @property
    def is_operator(self) -> bool:
        return self.service == OPERATOR

    @property
    def called(self) -> str:
        """How a message calls them: an operator has no account there to mention."""
        return self.login if self.is_operator else f"@{self.login}"

    def is_same(self, other: "Actor") -> bool:
        """Tell whether both are one, in one workspace or on one site."""
        return (self.service, self.host, self.subject) == (
            other.service,
            other.host,
            other.subject,
        )


class Permission(StrEnum):
    """What an actor may do in a repository, from least to most."""

    NONE = "none"
    READ = "read"
    TRIAGE = "triage"
    WRITE = "write"
    MAINTAIN = "maintain"
    ADMIN = "admin"

    def allows(self, needed: "Permission") -> bool:
        order = list(Permission)
        return order.index(self) >= order.index(needed)


class PersonalToken(Value):
    """A token of a person, and what it is renewed with.

    Without `expires_at` it holds until it is taken back, and without a `refresh_token`
    it can't be renewed.
    """

    access_token: SecretStr
    expires_at: datetime | None = None
    refresh_token: SecretStr | None = None
