"""What the fake GitHub knows: frozen records, and the tables they live in."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum, StrEnum
from pathlib import Path

from patchwright.core.system.clock import Clock
from patchwright.core.types.base import Ids
from tests.fakes.github.attachment_state import Attachment
from tests.fakes.github.check_state import CheckRun
from tests.fakes.github.ci_state import Builds
from tests.fakes.github.discussion_state import Discussion, DiscussionComment
from tests.fakes.github.hook_state import Hook, HookLog
from tests.fakes.github.registry_state import Registry
from tests.fakes.github.review_state import Review, ReviewThread
from tests.fakes.github.rule_state import Awaited, Milestone, Rules


class Role(IntEnum):
    """The roles of a repository, from least to most."""

    NONE = 0
    READ = 1
    TRIAGE = 2
    WRITE = 3
    MAINTAIN = 4
    ADMIN = 5


class AccountKind(StrEnum):
    USER = "User"
    BOT = "Bot"
    ORGANIZATION = "Organization"


class TokenKind(StrEnum):
    PERSONAL = "personal"
    INSTALLATION = "installation"
    ACTIONS = "actions"


@dataclass(frozen=True, kw_only=True)
class User:
    id: int
    login: str
    kind: AccountKind
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class Grant:
    """A role, and the name people see for it; organizations may make up names."""

    role: Role
    role_name: str


@dataclass(frozen=True, kw_only=True)
class Repo:
    """A repository; `git` is its bare folder, `parent` what it was forked from."""

    id: int
    owner: str
    name: str
    default_branch: str
    private: bool
    git: Path
    created_at: datetime
    parent: str | None = None
    grants: Mapping[str, Grant] = field(default_factory=dict)
    protected: frozenset[str] = frozenset()

    @property
    def full_name(self) -> str:
        return f"{self.owner}/{self.name}"


@dataclass(frozen=True, kw_only=True)
class Pull:
    """What makes an issue a pull request."""

    id: int
    head_repo: str
    head_branch: str
    base_branch: str
    draft: bool
    maintainer_can_modify: bool
    merged_at: datetime | None = None
    merged_by: str = ""


@dataclass(frozen=True, kw_only=True)
class Issue:
    """An issue, or a pull request when `pull` is there; they share their numbers."""

    id: int
    repo: str
    number: int
    author: str
    title: str
    body: str | None
    created_at: datetime
    updated_at: datetime
    closed_at: datetime | None = None
    labels: tuple[str, ...] = ()
    assignees: tuple[str, ...] = ()
    milestone: int | None = None
    app_slug: str | None = None
    pull: Pull | None = None
    edited_at: datetime | None = None

    @property
    def is_open(self) -> bool:
        return self.closed_at is None

    @property
    def head_ref(self) -> str:
        """The reference in the base's repository that follows a pull request."""
        return f"refs/pull/{self.number}/head"


@dataclass(frozen=True, kw_only=True)
class Comment:
    id: int
    repo: str
    number: int
    author: str
    body: str
    created_at: datetime
    updated_at: datetime
    app_slug: str | None = None
    is_minimized: bool = False


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What a reaction is on: an issue's own text, or one comment of it."""

    repo: str
    number: int
    comment_id: int | None = None


@dataclass(frozen=True, kw_only=True)
class Reaction:
    id: int
    subject: Subject
    author: str
    content: str
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class App:
    id: int
    slug: str
    owner: str
    webhook_secret: str
    public_key: str
    permissions: Mapping[str, str]
    created_at: datetime

    @property
    def bot_login(self) -> str:
        return f"{self.slug}[bot]"


@dataclass(frozen=True, kw_only=True)
class Installation:
    """An App on an account; `repositories` are full names in lower case."""

    id: int
    app_id: int
    account: str
    repositories: frozenset[str]
    permissions: Mapping[str, str]
    created_at: datetime
    suspended_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Token:
    """A credential. `repositories` is None where the owner's own rights decide."""

    value: str
    kind: TokenKind
    owner: str
    expires_at: datetime | None = None
    app_id: int | None = None
    installation_id: int | None = None
    repositories: frozenset[str] | None = None
    permissions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """One webhook request as GitHub would send it."""

    event: str
    action: str
    guid: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(kw_only=True)
class World:
    """All tables. Whoever reads or writes them holds `lock`.

    Logins and repositories are found without regard to case, as on GitHub.
    """

    clock: Clock
    ids: Ids
    folder: Path
    api_url: str
    web_url: str
    enterprise: bool
    lock: threading.RLock = field(default_factory=threading.RLock)
    users: dict[str, User] = field(default_factory=dict)
    repos: dict[str, Repo] = field(default_factory=dict)
    issues: dict[tuple[str, int], Issue] = field(default_factory=dict)
    comments: dict[int, Comment] = field(default_factory=dict)
    reviews: dict[int, ReviewThread] = field(default_factory=dict)
    submitted: dict[int, Review] = field(default_factory=dict)
    discussions: dict[int, Discussion] = field(default_factory=dict)
    discussed: dict[int, DiscussionComment] = field(default_factory=dict)
    heads: dict[int, dict[str, str]] = field(default_factory=dict)
    check_runs: dict[int, CheckRun] = field(default_factory=dict)
    builds: Builds = field(default_factory=Builds)
    pondered: dict[tuple[str, int], int] = field(default_factory=dict)
    labels: dict[tuple[str, str], str] = field(default_factory=dict)
    rules: dict[str, Rules] = field(default_factory=dict)
    teams: set[tuple[str, str]] = field(default_factory=set)
    milestones: dict[tuple[str, int], Milestone] = field(default_factory=dict)
    awaited: dict[tuple[str, int], Awaited] = field(default_factory=dict)
    attachments: dict[str, Attachment] = field(default_factory=dict)
    reactions: dict[int, Reaction] = field(default_factory=dict)
    apps: dict[int, App] = field(default_factory=dict)
    installations: dict[int, Installation] = field(default_factory=dict)
    hooks: dict[int, Hook] = field(default_factory=dict)
    hook_log: HookLog = field(default_factory=HookLog)
    tokens: dict[str, Token] = field(default_factory=dict)
    deliveries: list[Delivery] = field(default_factory=list)
    actions_may_open_pulls: bool = True
    registry: Registry = field(default_factory=Registry)
    token_life: timedelta = timedelta(hours=1)
    last_id: int = 1000

    def next_id(self) -> int:
        self.last_id += 1
        return self.last_id

    def user(self, login: str) -> User:
        return self.users[login.lower()]

    def repo(self, full_name: str) -> Repo:
        return self.repos[full_name.lower()]

    def find_issue(self, full_name: str, number: int) -> Issue | None:
        return self.issues.get((full_name.lower(), number))

    def issue(self, full_name: str, number: int) -> Issue:
        return self.issues[full_name.lower(), number]

    def put_repo(self, repo: Repo) -> Repo:
        self.repos[repo.full_name.lower()] = repo
        return repo

    def put_issue(self, issue: Issue) -> Issue:
        self.issues[issue.repo.lower(), issue.number] = issue
        return issue

    def issues_of(self, full_name: str) -> list[Issue]:
        return [i for (repo, _), i in self.issues.items() if repo == full_name.lower()]

    def comments_of(self, issue: Issue) -> list[Comment]:
        return [
            comment
            for comment in self.comments.values()
            if comment.repo.lower() == issue.repo.lower()
            and comment.number == issue.number
        ]

    def reviews_of(self, issue: Issue) -> list[ReviewThread]:
        return [
            thread
            for thread in self.reviews.values()
            if thread.repo.lower() == issue.repo.lower()
            and thread.number == issue.number
        ]

    def reactions_on(self, subject: Subject) -> list[Reaction]:
        return [r for r in self.reactions.values() if r.subject == subject]
