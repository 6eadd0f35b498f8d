"""What the fake GitHub knows of discussions."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class Discussion:
    id: int
    repo: str
    number: int
    author: str
    title: str
    body: str
    created_at: datetime
    updated_at: datetime
    labels: tuple[str, ...] = ()
    is_open: bool = True


@dataclass(frozen=True, kw_only=True)
class DiscussionComment:
    """A comment, or with `parent_id` an answer to one; GraphQL calls it `DC_ID`."""

    id: int
    discussion_id: int
    author: str
    body: str
    created_at: datetime
    updated_at: datetime
    parent_id: int | None = None
