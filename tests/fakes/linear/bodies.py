"""What webhooks say of things.

https://linear.app/developers/webhooks
"""

from typing import Any

from tests.fakes.linear.exchange import Json
from tests.fakes.linear.facts import (
    comment_url,
    issue_facts,
    issue_url,
    moment,
    project_url,
    session_url,
    times,
    user_url,
)
from tests.fakes.linear.state import (
    AgentActivity,
    AgentSession,
    Attachment,
    Comment,
    Entity,
    Issue,
    Label,
    Project,
    Reaction,
    Team,
    User,
    WorkflowState,
    World,
)


def user(world: World, user_id: str | None) -> Json | None:
    if user_id is None:
        return None
    found = world.get(User, user_id)
    return {
        "id": found.id,
        "name": found.name,
        "email": found.email,
        "url": user_url(world, found),
    }


def actor(world: World, found: User) -> Json:
    """Say who did it: an app that acts for itself is no user."""
    if found.app:
        return {"id": found.id, "name": found.name, "type": "oauthClient"}
    shown = user(world, found.id)
    return {**(shown or {}), "type": "user", "avatarUrl": None}


def team(world: World, team_id: str) -> Json:
    found = world.get(Team, team_id)
    return {"id": found.id, "key": found.key, "name": found.name}


def issue(world: World, found: Issue) -> Json:
    state = world.get(WorkflowState, found.state)
    labels = [world.get(Label, one) for one in found.labels]
    shown = {
        **issue_facts(world, found),
        "prioritySortOrder": found.sort_order,
        "labels": [
            {"id": one.id, "name": one.name, "color": one.color, "parentId": None}
            for one in labels
        ],
        "stateId": state.id,
        "state": {
            "id": state.id,
            "name": state.name,
            "color": state.color,
            "type": state.type,
        },
        "teamId": found.team,
        "team": team(world, found.team),
        "subscriberIds": list(found.subscribers),
        "reactionData": [],
        "parentId": found.parent,
    }
    for name in ("creator", "assignee", "delegate"):
        person = getattr(found, name)
        shown |= {f"{name}Id": person, name: user(world, person)}
    if found.project:
        project = world.get(Project, found.project)
        url = project_url(world, project)
        shown["projectId"] = project.id
        shown["project"] = {"id": project.id, "name": project.name, "url": url}
    if found.synced_with:
        shown["syncedWith"] = {"url": found.synced_with}
    return shown


def issue_child(world: World, found: Issue, *, described: bool = False) -> Json:
    """Show an issue beside something else, with its description or without."""
    shown: Json = {
        "id": found.id,
        "identifier": world.identifier(found),
        "title": found.title,
        "url": issue_url(world, found),
        "teamId": found.team,
        "team": team(world, found.team),
    }
    return {**shown, "description": found.description} if described else shown


def comment(world: World, found: Comment) -> Json:
    about = world.get(Issue, found.issue)
    shown = {
        **times(found),
        "body": found.body,
        "userId": found.user,
        "issueId": about.id,
        "issue": issue_child(world, about),
        "reactionData": [],
        "editedAt": moment(found.edited),
    }
    if found.user:
        shown["user"] = user(world, found.user)
    if found.parent:
        parent = world.get(Comment, found.parent)
        shown |= {"parentId": parent.id, "parent": comment_child(parent)}
    return shown


def comment_child(found: Comment) -> Json:
    return {
        "id": found.id,
        "body": found.body,
        "userId": found.user,
        "issueId": found.issue,
    }


def attachment(found: Attachment) -> Json:
    return {
        **times(found),
        "issueId": found.issue,
        "creatorId": found.creator,
        "title": found.title,
        "subtitle": found.subtitle,
        "url": found.url,
        "metadata": found.metadata,
        "sourceType": found.source_type,
        "groupBySource": found.group_by_source,
    }


def reaction(world: World, found: Reaction) -> Json:
    shown: Json = {
        **times(found),
        "emoji": found.emoji,
        "userId": found.user,
        "user": user(world, found.user),
    }
    if found.comment:
        about = world.get(Comment, found.comment)
        shown |= {"commentId": about.id, "comment": comment_child(about)}
    if found.issue:
        shown["issueId"] = found.issue
        shown["issue"] = issue_child(world, world.get(Issue, found.issue))
    return shown


def session(world: World, found: AgentSession) -> Json:
    about = world.get(Issue, found.issue)
    root = world.get(Comment, found.comment) if found.comment else None
    # Where no words of a person began it, the thread is not told of.
    told = None if root is None or root.is_session_root else root
    return {
        **times(found),
        "appUserId": found.app_user,
        "organizationId": world.workspace_of(about),
        "creatorId": found.creator,
        "creator": user(world, found.creator),
        "issueId": about.id,
        "issue": issue_child(world, about, described=True),
        "commentId": told.id if told else None,
        "comment": comment_child(told) if told else None,
        "sourceCommentId": None,
        "sourceMetadata": None,
        "status": found.status,
        "startedAt": moment(found.started),
        "endedAt": moment(found.ended),
        "summary": found.summary,
        "type": "commentThread",
        "url": session_url(world, found),
    }


def activity(world: World, found: AgentActivity) -> Json:
    return {
        **times(found),
        "agentSessionId": found.session,
        "content": dict(found.content),
        "signal": found.signal,
        "signalMetadata": found.signal_metadata,
        "sourceCommentId": found.source_comment,
        "userId": found.user,
        "user": user(world, found.user),
    }


def guidance(world: World, found: Issue) -> list[Json]:
    """Return the rules for agents that hold for an issue: all, then the team's."""
    shown: list[Json] = []
    for team_id, text in world.guidance:
        if team_id is None:
            shown.append({"body": text, "origin": {"type": "Organization"}})
        elif team_id == found.team:
            about = team(world, team_id)
            whose = {**about, "displayName": about["name"]}
            shown.append({"body": text, "origin": {"type": "Team", "team": whose}})
    return shown


def notification(world: World, kind: str, found: Issue, who: Json, **more: Any) -> Json:
    """Tell an app's user of something; `who` has its `userId` and who acted."""
    now = moment(world.clock.now())
    return {
        "id": world.new_id(),
        "createdAt": now,
        "updatedAt": now,
        "archivedAt": None,
        "externalUserActorId": None,
        "issueId": found.id,
        "issue": issue_child(world, found, described=True),
        "type": kind,
        **who,
        **more,
    }


def url_of(world: World, found: Entity) -> str | None:
    """Return where people look at it."""
    match found:
        case Issue():
            return issue_url(world, found)
        case Comment():
            return comment_url(world, found)
        case _:
            return None
