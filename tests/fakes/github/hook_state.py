"""What the fake GitHub remembers of bringing deliveries to their receiver."""

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class Hook:
    """A webhook that somebody added to one repository."""

    id: int
    repo: str
    secret: str


@dataclass(frozen=True, kw_only=True)
class HookAttempt:
    """One try to bring a delivery; `target` is the App or the repository's hook."""

    id: int
    guid: str
    target: tuple[str, int]
    delivered_at: datetime
    status: str
    status_code: int
    redelivery: bool


@dataclass(kw_only=True)
class HookLog:
    """`url` is where every hook sends its deliveries."""

    url: str = ""
    attempts: list[HookAttempt] = field(default_factory=list)
