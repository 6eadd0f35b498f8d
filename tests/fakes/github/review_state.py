"""What the fake GitHub knows of reviews: threads on lines of a pull request."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class ReviewComment:
    id: int
    author: str | None
    body: str
    created_at: datetime
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
