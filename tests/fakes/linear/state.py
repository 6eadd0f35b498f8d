"""All that the fake Linear knows."""

import threading
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from patchwright.core.system.clock import Clock
from patchwright.core.types.base import Ids

Json = dict[str, Any]


@dataclass(kw_only=True)
class Entity:
    """What everything has: times, and an id that is a UUID of version 4."""

    id: str
    created: datetime
    updated: datetime
    archived: datetime | None = None


Kept = TypeVar("Kept", bound=Entity)


@dataclass(kw_only=True)
class Workspace(Entity):
    """`url_key` is the first part of the addresses of its pages."""

    name: str
    url_key: str


@dataclass(kw_only=True)
class User(Entity):
    """A person, or an app that acts for itself; people write `@display_name`."""

    workspace: str
    name: str
    display_name: str
    email: str
    api_key: str = ""
    app: bool = False
    admin: bool = False
    guest: bool = False
    active: bool = True


@dataclass(kw_only=True)
class Team(Entity):
    """`members` may see a private team; everybody may see one without."""

    workspace: str
    key: str
    name: str
    members: set[str] | None = None
    last_number: int = 0


@dataclass(kw_only=True)
class WorkflowState(Entity):
    """`type` is one of `STATE_TYPES`; within a type the lowest `position` is first."""

    team: str
    name: str
    type: str
    position: float
    color: str = "#bec2c8"


@dataclass(kw_only=True)
class Label(Entity):
    """A label of one team, or of the workspace."""

    workspace: str
    name: str
    team: str | None = None
    color: str = "#5e6ad2"


@dataclass(kw_only=True)
class Project(Entity):
    workspace: str
    name: str
    teams: list[str]
    description: str = ""


@dataclass(kw_only=True)
class Issue(Entity):
    """`identifiers` are those it had in other teams; they lead to it for good."""

    number: int
    team: str
    title: str
    creator: str | None
    state: str
    description: str | None = None
    assignee: str | None = None
    delegate: str | None = None
    labels: list[str] = field(default_factory=list)
    parent: str | None = None
    project: str | None = None
    priority: int = 0
    estimate: float | None = None
    due: str | None = None
    sort_order: float = 0.0
    subscribers: list[str] = field(default_factory=list)
    identifiers: list[str] = field(default_factory=list)
    started: datetime | None = None
    completed: datetime | None = None
    canceled: datetime | None = None
    trashed: bool = False
    created_as: str = ""
    # The states it was brought to, oldest first.
    been_in: list[str] = field(default_factory=list)
    # Where it is kept in step with an issue of GitHub or GitLab.
    synced_with: str | None = None
    suggestions: dict[str, float] = field(default_factory=dict)


@dataclass(kw_only=True)
class Change(Entity):
    """An entry of an issue's history: its fields before and after, by our names."""

    issue: str
    actor: str
    old: Json
    new: Json


@dataclass(kw_only=True)
class Comment(Entity):
    """`is_session_root` holds the thread of a session that nobody's words began."""

    issue: str
    user: str | None
    body: str
    parent: str | None = None
    edited: datetime | None = None
    resolved: datetime | None = None
    quoted: str | None = None
    created_as: str = ""
    is_session_root: bool = False


@dataclass(kw_only=True)
class Attachment(Entity):
    issue: str
    creator: str | None
    url: str
    title: str
    subtitle: str | None = None
    metadata: Json = field(default_factory=dict)
    source_type: str | None = None
    group_by_source: bool = False


@dataclass(kw_only=True)
class Reaction(Entity):
    """A reaction to a comment or to an issue."""

    user: str
    emoji: str
    comment: str | None = None
    issue: str | None = None


@dataclass(kw_only=True)
class Relation(Entity):
    """`type` is `blocks`, `duplicate`, `related` or `similar`."""

    issue: str
    related: str
    type: str


@dataclass(kw_only=True)
class AgentSession(Entity):
    """An agent's work; `told` is when its app was first told of it."""

    app_user: str
    creator: str | None
    issue: str
    comment: str | None
    told: datetime
    status: str = "pending"
    started: datetime | None = None
    ended: datetime | None = None
    dismissed: datetime | None = None
    summary: str | None = None
    plan: list[Json] | None = None
    external_urls: list[Json] = field(default_factory=list)
    # Since when there was an activity, or an address to look at.
    first_sign: datetime | None = None
    last_activity: datetime | None = None
    unresponsive: bool = False


@dataclass(kw_only=True)
class AgentActivity(Entity):
    """`content` is as it was sent; one that is `replaced` is shown no more."""

    session: str
    user: str
    content: Json
    ephemeral: bool = False
    signal: str | None = None
    signal_metadata: Json | None = None
    source_comment: str | None = None
    replaced: bool = False


@dataclass(kw_only=True)
class Webhook(Entity):
    """`of_app` is the one in an app's own settings, which alone hears of sessions."""

    workspace: str
    secret: str
    resource_types: list[str]
    url: str | None = None
    label: str | None = None
    team: str | None = None
    enabled: bool = True
    of_app: bool = False
    creator: str | None = None


@dataclass(kw_only=True)
class App:
    """An OAuth application; `scopes` are those that its users were asked for."""

    name: str
    client_id: str
    client_secret: str
    redirect_uris: list[str]
    workspace: str
    client_credentials: bool = True


@dataclass(kw_only=True)
class Token:
    """An access token of an app, for a person or for the app itself.

    Its refresh token is used up once there is one that it was `replaced_by`.
    """

    access: str
    client_id: str
    user: str
    scopes: frozenset[str]
    expires: datetime
    refresh: str = ""
    is_app: bool = True
    revoked: bool = False
    replaced_by: "Token | None" = None
    replaced_at: datetime | None = None


@dataclass(kw_only=True)
class Grant:
    """A code that waits to be exchanged, once, within ten minutes."""

    client_id: str
    user: str
    scopes: frozenset[str]
    redirect_uri: str
    expires: datetime
    is_app: bool
    challenge: str = ""


@dataclass(frozen=True, kw_only=True)
class File:
    workspace: str
    name: str
    content_type: str
    data: bytes


@dataclass(kw_only=True)
class World:
    clock: Clock
    ids: Ids
    url: str
    lock: threading.RLock = field(default_factory=threading.RLock)
    # Everything with an id, in the order in which it came.
    entities: dict[str, Entity] = field(default_factory=dict)
    # Ids of what is gone; nothing new gets one of them.
    gone: set[str] = field(default_factory=set)
    apps: dict[str, App] = field(default_factory=dict)
    tokens: list[Token] = field(default_factory=list)
    grants: dict[str, Grant] = field(default_factory=dict)
    files: dict[str, File] = field(default_factory=dict)
    guidance: list[tuple[str | None, str]] = field(default_factory=list)
    deliveries: list[Any] = field(default_factory=list)
    sends: bool = True
    # Whoever sits at the browser, for the page on which people consent.
    at_browser: str = ""

    def new_id(self) -> str:
        return str(uuid.UUID(hex=self.ids.new(), version=4))

    def add(self, entity: Kept) -> Kept:
        self.entities[entity.id] = entity
        return entity

    def remove(self, entity: Entity) -> None:
        del self.entities[entity.id]
        self.gone.add(entity.id)

    def get(self, kind: type[Kept], entity_id: str | None) -> Kept:
        """Return what has that id; raise `LookupError` if there is none."""
        found = self.entities.get(entity_id or "")
        if isinstance(found, kind):
            return found
        raise LookupError(f"there is no {kind.__name__} {entity_id}")

    def all(self, kind: type[Kept]) -> list[Kept]:
        return [one for one in self.entities.values() if isinstance(one, kind)]

    def new(self) -> Json:
        """Return id and times for something new."""
        now = self.clock.now()
        return {"id": self.new_id(), "created": now, "updated": now}

    def identifier(self, issue: Issue) -> str:
        return f"{self.get(Team, issue.team).key}-{issue.number}"

    def issue(self, name: str) -> Issue:
        """Return an issue by id or by any identifier it ever had."""
        for one in self.all(Issue):
            if name in (one.id, self.identifier(one), *one.identifiers):
                return one
        raise LookupError(f"there is no issue {name}")

    def states(self, team: str) -> list[WorkflowState]:
        found = [one for one in self.all(WorkflowState) if one.team == team]
        return sorted(found, key=lambda one: one.position)

    def comments(self, issue: Issue) -> list[Comment]:
        return [one for one in self.all(Comment) if one.issue == issue.id]

    def sessions(self, issue: Issue) -> list[AgentSession]:
        return [one for one in self.all(AgentSession) if one.issue == issue.id]

    def activities(self, session: AgentSession) -> list[AgentActivity]:
        """Return what is shown of a session, oldest first."""
        found = (one for one in self.all(AgentActivity) if one.session == session.id)
        return [one for one in found if not one.replaced]

    def workspace_of(self, issue: Issue) -> str:
        return self.get(Team, issue.team).workspace

    def may_see(self, user: User, team_id: str) -> bool:
        team = self.get(Team, team_id)
        is_member = team.members is None or user.id in team.members
        return team.workspace == user.workspace and is_member

    def scopes(self, app_user: User) -> frozenset[str]:
        """Return what an app was allowed in the workspace of its user."""
        own = [one for one in self.tokens if one.user == app_user.id]
        return frozenset().union(*(one.scopes for one in own if not one.revoked))

    def called(self, name: str, workspace: str) -> User | None:
        """Return whoever people call so, after an at sign."""
        people: Iterable[User] = self.all(User)
        return next(
            (
                one
                for one in people
                if one.workspace == workspace
                and one.display_name.lower() == name.lower()
            ),
            None,
        )


STATE_TYPES = ("triage", "backlog", "unstarted", "started", "completed", "canceled")
