"""What the fake GitLab knows: frozen records, and the tables they live in.

Projects are known by their number, so that another name or place changes nothing else.
"""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import IntEnum, StrEnum
from pathlib import Path

from patchwright.core.system.clock import Clock
from patchwright.core.types.base import Ids
from tests.fakes.github.state import Delivery
from tests.fakes.gitlab.build_state import Builds
from tests.fakes.gitlab.hook_state import Hook, HookAttempt
from tests.fakes.gitlab.sign_in_state import SignIns
from tests.fakes.gitlab.thread_state import (
    Approval,
    Award,
    Label,
    LabelEvent,
    Milestone,
    Note,
    Thread,
    ThreadKind,
)


class Level(IntEnum):
    """What a member may do.

    https://docs.gitlab.com/api/access_requests/
    """

    NONE = 0
    MINIMAL = 5
    GUEST = 10
    PLANNER = 15
    REPORTER = 20
    DEVELOPER = 30
    MAINTAINER = 40
    OWNER = 50
    ADMIN = 60


class Visibility(StrEnum):
    PRIVATE = "private"
    INTERNAL = "internal"
    PUBLIC = "public"

    @property
    def level(self) -> int:
        return {"private": 0, "internal": 10, "public": 20}[self.value]


class TokenKind(StrEnum):
    PERSONAL = "personal"
    PROJECT = "project"
    GROUP = "group"
    OAUTH = "oauth"


@dataclass(frozen=True, kw_only=True)
class User:
    id: int
    username: str
    name: str
    created_at: datetime
    is_bot: bool = False
    is_admin: bool = False
    is_external: bool = False
    state: str = "active"


@dataclass(frozen=True, kw_only=True)
class Group:
    """A group or sub-group; `members` are levels by the number of the user."""

    id: int
    path: str
    members: Mapping[int, Level] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class PushRules:
    """What a push must keep to; empty or 0 asks for nothing.

    https://docs.gitlab.com/user/project/repository/push_rules/
    """

    branch_name: str = ""
    commit_message: str = ""
    negative_message: str = ""
    author_email: str = ""
    file_name: str = ""
    max_file_mb: int = 0
    prevent_secrets: bool = False
    reject_unsigned: bool = False


@dataclass(frozen=True, kw_only=True)
class Protection:
    """Who may push to a protected branch, and who may merge into it."""

    push: Level = Level.MAINTAINER
    merge: Level = Level.MAINTAINER
    allow_force_push: bool = False


@dataclass(frozen=True, kw_only=True)
class Project:
    """A project; `git` is its bare folder, `shared` the levels lent to groups."""

    id: int
    path: str
    name: str
    default_branch: str
    visibility: Visibility
    git: Path
    created_at: datetime
    creator: int
    forked_from: int | None = None
    members: Mapping[int, Level] = field(default_factory=dict)
    shared: Mapping[str, Level] = field(default_factory=dict)
    protected: Mapping[str, Protection] = field(default_factory=dict)
    rules: PushRules = field(default_factory=PushRules)
    approvals_required: int = 0
    archived: bool = False

    @property
    def namespace(self) -> str:
        return self.path.rpartition("/")[0]

    @property
    def slug(self) -> str:
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, kw_only=True)
class Token:
    """A credential; it may do what its user may, within its scopes."""

    id: int
    value: str
    kind: TokenKind
    user: int
    name: str
    scopes: tuple[str, ...]
    created_at: datetime
    expires_on: date | None = None
    expires_at: datetime | None = None
    revoked: bool = False


@dataclass(frozen=True, kw_only=True)
class Upload:
    """A file that somebody dropped into a text."""

    id: int
    project: int
    secret: str
    name: str
    data: bytes


@dataclass(kw_only=True)
class World:
    """All tables. Whoever reads or writes them holds `lock`.

    Names of people, groups and projects are found without regard to case. `acting`
    names the request that all that happens now comes of, and `addressed` is which hook
    a delivery was for.
    """

    clock: Clock
    ids: Ids
    folder: Path
    base_url: str
    version: str = "18.5.0-ee"
    lock: threading.RLock = field(default_factory=threading.RLock)
    users: dict[int, User] = field(default_factory=dict)
    groups: dict[str, Group] = field(default_factory=dict)
    projects: dict[int, Project] = field(default_factory=dict)
    moved: dict[str, int] = field(default_factory=dict)
    threads: dict[int, Thread] = field(default_factory=dict)
    notes: dict[int, Note] = field(default_factory=dict)
    awards: dict[int, Award] = field(default_factory=dict)
    labels: dict[tuple[int, str], Label] = field(default_factory=dict)
    label_events: list[LabelEvent] = field(default_factory=list)
    milestones: dict[int, Milestone] = field(default_factory=dict)
    approvals: list[Approval] = field(default_factory=list)
    review_states: dict[tuple[int, int], str] = field(default_factory=dict)
    pondered: dict[int, int] = field(default_factory=dict)
    builds: Builds = field(default_factory=Builds)
    uploads: dict[str, Upload] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)
    sign_ins: SignIns = field(default_factory=SignIns)
    heads: dict[int, dict[str, str]] = field(default_factory=dict)
    hooks: dict[int, Hook] = field(default_factory=dict)
    attempts: list[HookAttempt] = field(default_factory=list)
    deliveries: list[Delivery] = field(default_factory=list)
    addressed: dict[str, int] = field(default_factory=dict)
    acting: str = ""
    last_id: int = 1000

    def next_id(self) -> int:
        self.last_id += 1
        return self.last_id

    def find_user(self, username: str) -> User | None:
        wanted = username.lower()
        found = (one for one in self.users.values() if one.username.lower() == wanted)
        return next(found, None)

    def user(self, username: str) -> User:
        found = self.find_user(username)
        if found is None:
            raise LookupError(f"there is no user {username}")
        return found

    def find_project(self, path: str) -> Project | None:
        """Return the project that is there now, whatever its name was before."""
        wanted = path.lower()
        found = (one for one in self.projects.values() if one.path.lower() == wanted)
        return next(found, None)

    def project(self, path: str) -> Project:
        found = self.find_project(path)
        if found is None:
            raise LookupError(f"there is no project {path}")
        return found

    def put_project(self, project: Project) -> Project:
        self.projects[project.id] = project
        return project

    def put_thread(self, thread: Thread) -> Thread:
        self.threads[thread.id] = thread
        return thread

    def find_thread(self, project: int, kind: ThreadKind, iid: int) -> Thread | None:
        found = (one for one in self.threads_of(project, kind) if one.iid == iid)
        return next(found, None)

    def thread(self, path: str, kind: ThreadKind, iid: int) -> Thread:
        found = self.find_thread(self.project(path).id, kind, iid)
        if found is None:
            raise LookupError(f"there is no {kind} {iid} in {path}")
        return found

    def threads_of(self, project: int, kind: ThreadKind) -> list[Thread]:
        return [
            one
            for one in self.threads.values()
            if one.project == project and one.kind is kind
        ]

    def notes_of(self, thread: Thread) -> list[Note]:
        """Return what was written there, oldest first."""
        return [one for one in self.notes.values() if one.thread == thread.id]

    def awards_on(self, awardable: int) -> list[Award]:
        return [one for one in self.awards.values() if one.awardable == awardable]
