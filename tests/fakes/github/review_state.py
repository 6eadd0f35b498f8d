"""What the fake GitHub knows of reviews, and of the threads on lines they begin."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class Review:
    """What somebody submitted at once; `state` is as GitHub writes it, in capitals."""

    id: int
    repo: str
    number: int
    author: str | None
    body: str
    state: str
    commit: str
    submitted_at: datetime
    edited_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class ReviewComment:
    """A comment on lines; every one belongs to a review, if only of its own."""

    id: int
    review_id: int
    author: str | None
    body: str
    created_at: datetime
    updated_at: datetime
    is_minimized: bool = False


@dataclass(frozen=True, kw_only=True)
class ReviewThread:
    """What people say about lines of a pull request; `side` is LEFT or RIGHT.

    `hunk` is the part of the diff down to the last line, as it was then.
    """

    id: int
    repo: str
    number: int
    path: str
    line: int
    start_line: int | None
    side: str
    hunk: str
    comments: tuple[ReviewComment, ...]
    is_resolved: bool = False
