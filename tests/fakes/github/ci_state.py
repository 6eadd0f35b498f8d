"""What the fake GitHub knows of builds: the logs of jobs, annotations, statuses."""

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class Annotation:
    """What a check says about lines of a file; `level` is as GitHub writes it."""

    path: str
    line: int
    level: str
    message: str


@dataclass(frozen=True, kw_only=True)
class Status:
    """The older kind of check: a word about a commit, with nothing behind it."""

    id: int
    repo: str
    sha: str
    context: str
    state: str
    description: str
    created_at: datetime


@dataclass
class Builds:
    """Logs and annotations by the id of their check run."""

    logs: dict[int, str] = field(default_factory=dict)
    annotations: dict[int, tuple[Annotation, ...]] = field(default_factory=dict)
    statuses: list[Status] = field(default_factory=list)
