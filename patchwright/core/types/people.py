"""Who asked, and what they may do."""

from enum import StrEnum

from patchwright.core.types.base import Value


class Actor(Value):
    """A person or app on a service, as that service names it.

    `host` is the workspace or site, where `external_id` counts for one of many.
    """

    service: str
    login: str
    external_id: str = ""
    is_bot: bool = False
    host: str = ""


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
