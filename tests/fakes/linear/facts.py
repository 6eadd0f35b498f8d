"""What the API and the webhooks say of things in the same words."""

import re
from datetime import datetime

from tests.fakes.linear.exchange import Json
from tests.fakes.linear.state import (
    AgentSession,
    Comment,
    Entity,
    Issue,
    Project,
    User,
    Workspace,
    World,
)

PRIORITIES = ("No priority", "Urgent", "High", "Medium", "Low")


def moment(at: datetime | None) -> str | None:
    if at is None:
        return None
    return f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03d}Z"


def slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60] or "issue"


def issue_url(world: World, found: Issue) -> str:
    key = world.get(Workspace, world.workspace_of(found)).url_key
    name = world.identifier(found)
    return f"{world.url}/{key}/issue/{name}/{slug(found.title)}"


def comment_url(world: World, found: Comment) -> str:
    whole = issue_url(world, world.get(Issue, found.issue))
    return f"{whole}#comment-{found.id[:8]}"


def session_url(world: World, found: AgentSession) -> str:
    whole = issue_url(world, world.get(Issue, found.issue))
    return f"{whole}#agent-session-{found.id[:8]}"


def user_url(world: World, found: User) -> str:
    key = world.get(Workspace, found.workspace).url_key
    return f"{world.url}/{key}/profiles/{found.display_name}"


def project_url(world: World, found: Project) -> str:
    key = world.get(Workspace, found.workspace).url_key
    return f"{world.url}/{key}/project/{slug(found.name)}-{found.id[:12]}"


def issue_facts(world: World, found: Issue) -> Json:
    """Return what the API and the webhooks say of an issue in the same words."""
    return {
        **times(found),
        "number": found.number,
        "identifier": world.identifier(found),
        "title": found.title,
        "description": found.description,
        "url": issue_url(world, found),
        "priority": found.priority,
        "priorityLabel": PRIORITIES[found.priority],
        "sortOrder": found.sort_order,
        "estimate": found.estimate,
        "dueDate": found.due,
        "previousIdentifiers": list(found.identifiers),
        "labelIds": list(found.labels),
        "startedAt": moment(found.started),
        "completedAt": moment(found.completed),
        "canceledAt": moment(found.canceled),
        "trashed": found.trashed or None,
    }


def times(found: Entity) -> Json:
    return {
        "id": found.id,
        "createdAt": moment(found.created),
        "updatedAt": moment(found.updated),
        "archivedAt": moment(found.archived),
    }
