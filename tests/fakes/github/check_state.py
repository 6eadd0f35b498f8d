"""What the fake GitHub knows of checks: runs on a commit, each reported by an App."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class CheckRun:
    """A line in a commit's list of checks; `conclusion` comes when it has ended."""

    id: int
    repo: str
    head_sha: str
    name: str
    app_slug: str
    status: str = "queued"
    conclusion: str | None = None
    external_id: str = ""
    details_url: str | None = None
    title: str | None = None
    summary: str | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
