"""What the fake GitHub knows of rules, milestones and whom a pull request waits for."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Rules for every branch of a repository, which nobody may bypass."""

    signatures: bool = False
    no_new_branches: bool = False
    archived: bool = False


@dataclass(frozen=True, kw_only=True)
class Milestone:
    id: int
    repo: str
    number: int
    title: str
    creator: str
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class Awaited:
    """Whose review a pull request waits for: logins, and teams by their short names."""

    people: tuple[str, ...] = ()
    teams: tuple[str, ...] = ()


NO_RULES = Rules()
NOBODY_AWAITED = Awaited()
