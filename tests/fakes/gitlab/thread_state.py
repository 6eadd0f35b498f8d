"""Issues, merge requests, and all that people write and stick under them."""

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum


class ThreadKind(StrEnum):
    """What a thread is, in the words of GitLab's own type names."""

    ISSUE = "Issue"
    MERGE_REQUEST = "MergeRequest"

    @property
    def mark(self) -> str:
        return "#" if self is ThreadKind.ISSUE else "!"

    @property
    def folder(self) -> str:
        """The part of an address that stands for the kind."""
        return "issues" if self is ThreadKind.ISSUE else "merge_requests"


DRAFT_MARKS = ("draft:", "[draft]", "(draft)")


@dataclass(frozen=True, kw_only=True)
class Merge:
    """What makes a thread a merge request.

    `start_sha` is where the target stood when the source last changed.
    """

    source_project: int
    source_branch: str
    target_branch: str
    allow_collaboration: bool = False
    reviewers: tuple[int, ...] = ()
    merged_at: datetime | None = None
    merged_by: int | None = None
    remove_source: bool = False
    squash: bool = False
    merge_sha: str | None = None
    start_sha: str = ""


@dataclass(frozen=True, kw_only=True)
class Thread:
    """An issue, or a merge request when `merge` is there; their numbers are apart."""

    id: int
    project: int
    kind: ThreadKind
    iid: int
    author: int
    title: str
    description: str
    created_at: datetime
    updated_at: datetime
    closed_at: datetime | None = None
    closed_by: int | None = None
    labels: tuple[str, ...] = ()
    assignees: tuple[int, ...] = ()
    milestone: int | None = None
    confidential: bool = False
    locked: bool = False
    edited_at: datetime | None = None
    edited_by: int | None = None
    updated_by: int | None = None
    moved_to: int | None = None
    merge: Merge | None = None

    @property
    def is_open(self) -> bool:
        return self.closed_at is None and not (self.merge and self.merge.merged_at)

    @property
    def state(self) -> str:
        if self.merge is not None and self.merge.merged_at is not None:
            return "merged"
        return "opened" if self.is_open else "closed"

    @property
    def state_id(self) -> int:
        return {"opened": 1, "closed": 2, "merged": 3}[self.state]

    @property
    def is_draft(self) -> bool:
        return self.title.lower().startswith(DRAFT_MARKS)

    @property
    def head_ref(self) -> str:
        """The reference in the target's repository that follows a merge request."""
        return f"refs/merge-requests/{self.iid}/head"

    @property
    def proposed(self) -> Merge:
        """What is to be merged; raise where this is no merge request."""
        if self.merge is None:
            raise LookupError(f"#{self.iid} is no merge request")
        return self.merge

    def with_merge(self, **changes: object) -> "Thread":
        return replace(self, merge=replace(self.proposed, **changes))  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class Position:
    """Lines of a diff, by the versions that it was taken between.

    `start_*` are the first of several lines; a line that both sides have has both.
    """

    base_sha: str
    start_sha: str
    head_sha: str
    old_path: str
    new_path: str
    old_line: int | None = None
    new_line: int | None = None
    start_old: int | None = None
    start_new: int | None = None


@dataclass(frozen=True, kw_only=True)
class Note:
    """A note. Those of one `discussion` belong together; `type` is GitLab's word."""

    id: int
    thread: int
    discussion: str
    author: int
    body: str
    created_at: datetime
    updated_at: datetime
    type: str | None = None
    system: bool = False
    internal: bool = False
    position: Position | None = None
    resolved_by: int | None = None
    resolved_at: datetime | None = None
    edited_by: int | None = None

    @property
    def resolvable(self) -> bool:
        return self.type is not None and not self.system


@dataclass(frozen=True, kw_only=True)
class Award:
    """An emoji on a thread or a note, each of which has a number of its own."""

    id: int
    awardable: int
    awardable_type: str
    user: int
    name: str
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class LabelEvent:
    """A label that was put on a thread, or taken off."""

    id: int
    thread: int
    user: int
    label: str
    is_added: bool
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class Label:
    id: int
    project: int
    name: str
    color: str
    description: str | None
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class Milestone:
    id: int
    iid: int
    project: int
    title: str
    created_at: datetime
    state: str = "active"


@dataclass(frozen=True, kw_only=True)
class Approval:
    thread: int
    user: int
    at: datetime
