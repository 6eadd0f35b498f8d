"""All that the fake Jira knows."""

import threading
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from patchwright.core.system.clock import Clock
from patchwright.core.types.base import Ids


@dataclass(kw_only=True)
class User:
    """`id` is an account id in the cloud, and a name in a data center."""

    id: str
    display_name: str
    email: str
    token: str
    is_app: bool = False


@dataclass(kw_only=True)
class Project:
    """`members` may see it, or everybody; who is `silenced` may not write there."""

    id: str
    key: str
    name: str
    members: set[str] | None = None
    silenced: set[str] = field(default_factory=set)
    last_number: int = 0


@dataclass(kw_only=True)
class Body:
    """A text as wiki markup and, in the cloud, as a document."""

    wiki: str
    adf: dict[str, Any] | None = None


@dataclass(kw_only=True)
class Comment:
    id: str
    author: str
    body: Body
    created: datetime
    updated: datetime
    update_author: str
    properties: dict[str, Any] = field(default_factory=dict)
    visibility: dict[str, str] | None = None


@dataclass(kw_only=True)
class Item:
    """One change: `old` and `new` are ids where the field has ids."""

    field: str
    field_id: str = ""
    old: str | None = None
    old_words: str | None = None
    new: str | None = None
    new_words: str | None = None
    custom: bool = False


@dataclass(kw_only=True)
class History:
    id: str
    author: str
    created: datetime
    items: list[Item]


@dataclass(kw_only=True)
class Attachment:
    id: str
    filename: str
    author: str
    created: datetime
    mime_type: str
    data: bytes


@dataclass(kw_only=True)
class RemoteLink:
    id: int
    global_id: str
    url: str
    title: str
    raw: dict[str, Any]


@dataclass(kw_only=True)
class Link:
    """`source` has the outward words, `target` the inward ones."""

    id: str
    name: str
    outward: str
    inward: str
    source: str
    target: str


@dataclass(kw_only=True)
class Issue:
    id: str
    key: str
    kind: str
    summary: str
    description: Body | None
    creator: str
    reporter: str
    created: datetime
    updated: datetime
    status: str = "To Do"
    labels: list[str] = field(default_factory=list)
    assignee: str | None = None
    parent: str | None = None
    custom: dict[str, Any] = field(default_factory=dict)
    comments: list[Comment] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)
    remote_links: list[RemoteLink] = field(default_factory=list)
    histories: list[History] = field(default_factory=list)
    # Keys it had in other projects; they lead to it for good.
    old_keys: list[str] = field(default_factory=list)

    @property
    def project(self) -> str:
        return self.key.rpartition("-")[0]


@dataclass(kw_only=True)
class CustomField:
    id: str
    name: str
    custom: str


@dataclass(kw_only=True)
class Way:
    """A transition: from some statuses or any, with fields that must be filled in."""

    id: str
    name: str
    sources: tuple[str, ...]
    target: str
    required: tuple[str, ...] = ()
    # What a check of the workflow wants, and the way does not tell beforehand.
    checked: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Mail:
    to: str
    subject: str
    text: str
    html: str


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """A webhook as it is sent; `event` is its `webhookEvent`."""

    event: str
    id: str
    headers: dict[str, str]
    body: bytes


@dataclass(kw_only=True)
class World:
    clock: Clock
    ids: Ids
    base_url: str
    media_url: str
    is_cloud: bool
    lock: threading.RLock = field(default_factory=threading.RLock)
    users: dict[str, User] = field(default_factory=dict)
    projects: dict[str, Project] = field(default_factory=dict)
    issues: dict[str, Issue] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    custom_fields: list[CustomField] = field(default_factory=list)
    ways: list[Way] = field(default_factory=list)
    mails: list[Mail] = field(default_factory=list)
    sends_mail: bool = True
    # Roles that the bot is no member of: nobody writes for others than their own.
    foreign_roles: set[str] = field(default_factory=set)
    secrets: list[str] = field(default_factory=list)
    sends: bool = True
    deliveries: list[Delivery] = field(default_factory=list)
    last_id: int = 10_000

    def new_id(self) -> str:
        self.last_id += 1
        return str(self.last_id)

    def may_see(self, user: User, issue: Issue) -> bool:
        members = self.projects[issue.project].members
        return members is None or user.id in members

    def may_write(self, user: User, issue: Issue) -> bool:
        return user.id not in self.projects[issue.project].silenced

    def find_comment(self, comment_id: str) -> tuple[Issue, Comment]:
        for issue in self.issues.values():
            for comment in issue.comments:
                if comment.id == comment_id:
                    return issue, comment
        raise LookupError(f"there is no comment {comment_id}")
