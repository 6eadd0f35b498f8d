"""What people and programs do in Linear; each act is written down and told."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from tests.fakes.linear import bodies, sessions, webhooks
from tests.fakes.linear.exchange import Json, invalid, not_found
from tests.fakes.linear.facts import moment
from tests.fakes.linear.render import first_state
from tests.fakes.linear.state import (
    Attachment,
    Change,
    Comment,
    Entity,
    Issue,
    Label,
    Reaction,
    Relation,
    Team,
    User,
    WorkflowState,
    World,
)

# What `updatedFrom` calls a field of an issue.
NAMES = {
    "title": "title",
    "description": "description",
    "assignee": "assigneeId",
    "delegate": "delegateId",
    "labels": "labelIds",
    "parent": "parentId",
    "project": "projectId",
    "priority": "priority",
    "estimate": "estimate",
    "due": "dueDate",
    "sort_order": "sortOrder",
    "state": "stateId",
    "subscribers": "subscriberIds",
    "team": "teamId",
    "number": "number",
    "trashed": "trashed",
    "archived": "archivedAt",
    "started": "startedAt",
    "completed": "completedAt",
    "canceled": "canceledAt",
}
# Code says nothing to anybody.
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_MENTION = re.compile(r"(?<![\w@/`])@([\w.-]*\w)")


def create(world: World, team: str, actor: User, title: str, **more: Any) -> Issue:
    """Open an issue; `more` are other fields of `Issue`, among them its id."""
    home = world.get(Team, team)
    home.last_number += 1
    more.setdefault("state", first_state(world.states(team)).id)
    made = Issue(
        **{
            **world.new(),
            "number": home.last_number,
            "team": team,
            "title": title,
            "creator": actor.id,
            "sort_order": float(-home.last_number),
            **more,
        }
    )
    made.subscribers = made.subscribers or [actor.id]
    _note_state(world, made)
    world.add(made)
    webhooks.tell(world, made, "create", actor)
    if made.delegate:
        sessions.delegate(world, made, actor)
    for agent in _agents_called(world, made.description, actor):
        sessions.mention_in_issue(world, made, agent, actor)
    return made


def change(world: World, issue: Issue, actor: User, **fields: Any) -> None:
    """Set fields of an issue, and tell what they were before."""
    if "team" in fields:
        fields |= _on_move(world, issue, fields["team"])
    old = {k: getattr(issue, k) for k, v in fields.items() if getattr(issue, k) != v}
    if not old:
        return
    times = {
        name: getattr(issue, name) for name in ("started", "completed", "canceled")
    }
    before = {"updatedAt": moment(issue.updated)}
    for name in old:
        setattr(issue, name, fields[name])
    if "state" in old:
        issue.been_in.append(issue.state)
        _note_state(world, issue)
        old |= {n: at for n, at in times.items() if getattr(issue, n) != at}
    made = Change(**world.new(), issue=issue.id, actor=actor.id, old=old, new={})
    made.new = {name: getattr(issue, name) for name in old}
    issue.updated = world.add(made).created
    told = {NAMES[name]: _shown(value) for name, value in old.items()}
    webhooks.tell(world, issue, "update", actor, before | told)
    _tell_agents(world, issue, actor, old)


def _tell_agents(
    world: World, issue: Issue, actor: User, old: Mapping[str, Any]
) -> None:
    if "delegate" in old:
        if old["delegate"]:
            sessions.notify(
                world, "issueUnassignedFromYou", issue, old["delegate"], actor
            )
        # An agent that takes an issue itself needs not be told of it.
        if issue.delegate and issue.delegate != actor.id:
            sessions.delegate(world, issue, actor)
    elif "state" in old and issue.delegate and issue.delegate != actor.id:
        sessions.notify(world, "issueStatusChanged", issue, issue.delegate, actor)
    if "description" in old:
        before = {one.id for one in _agents_called(world, old["description"], actor)}
        for agent in _agents_called(world, issue.description, actor):
            if agent.id not in before:
                sessions.mention_in_issue(world, issue, agent, actor)


def _shown(value: Any) -> Any:
    return moment(value) if isinstance(value, datetime) else value


def _on_move(world: World, issue: Issue, team: str) -> dict[str, Any]:
    """Return what changes with the team: number, state, and labels of the old one."""
    if team == issue.team:
        return {}
    home = world.get(Team, team)
    home.last_number += 1
    issue.identifiers.append(world.identifier(issue))
    kind = world.get(WorkflowState, issue.state).type
    states = world.states(team)
    known = [one for one in states if one.type == kind] or [first_state(states)]
    labels = [one for one in issue.labels if world.get(Label, one).team in (None, team)]
    return {"number": home.last_number, "state": known[0].id, "labels": labels}


def _note_state(world: World, issue: Issue) -> None:
    """Keep the times at which an issue was started and ended."""
    kind, now = world.get(WorkflowState, issue.state).type, world.clock.now()
    issue.completed = now if kind == "completed" else None
    issue.canceled = now if kind == "canceled" else None
    if kind == "started":
        issue.started = issue.started or now
    elif kind not in ("completed", "canceled"):
        issue.started = None


def remove(world: World, issue: Issue, actor: User) -> None:
    """Move an issue to the trash, from where its people could get it back."""
    issue.trashed, issue.archived = True, world.clock.now()
    issue.updated = issue.archived
    webhooks.tell(world, issue, "remove", actor)


def comment(
    world: World,
    issue: Issue,
    actor: User,
    body: str,
    *,
    parent: Comment | None = None,
    **more: Any,
) -> Comment:
    """Say something, also in a thread; agents who are called or talked to are told."""
    if parent is not None and parent.parent is not None:
        # There is one level: an answer to an answer is one in the same thread.
        parent = world.get(Comment, parent.parent)
    made = Comment(
        **{
            **world.new(),
            "issue": issue.id,
            "user": actor.id,
            "body": body,
            "parent": parent.id if parent else None,
            **more,
        }
    )
    world.add(made)
    issue.updated = made.created
    webhooks.tell(world, made, "create", actor)
    if actor.app:
        return made
    if issue.delegate:
        about = {"comment": bodies.comment_child(made), "commentId": made.id}
        sessions.notify(world, "issueNewComment", issue, issue.delegate, actor, **about)
    if parent is not None and sessions.answered(world, parent, made, actor):
        return made
    for agent in _agents_called(world, body, actor):
        sessions.mention_in_comment(world, made, agent, actor)
    return made


def edit_comment(world: World, found: Comment, actor: User, body: str) -> None:
    """Change a comment; an agent whose name is new in it is called."""
    before = {one.id for one in _agents_called(world, found.body, actor)}
    told = {
        "updatedAt": moment(found.updated),
        "body": found.body,
        "editedAt": moment(found.edited),
    }
    found.body = body
    found.edited = found.updated = world.clock.now()
    webhooks.tell(world, found, "update", actor, told)
    for agent in _agents_called(world, body, actor):
        if agent.id not in before and not actor.app:
            sessions.mention_in_comment(world, found, agent, actor)


def delete_comment(world: World, found: Comment, actor: User) -> None:
    """Delete a comment with the answers to it."""
    for answer in [one for one in world.all(Comment) if one.parent == found.id]:
        delete_comment(world, answer, actor)
    found.updated = world.clock.now()
    webhooks.tell(world, found, "remove", actor)
    world.remove(found)


def attach(world: World, issue: Issue, actor: User, **facts: Any) -> Attachment:
    """Attach an address; one that is there already is changed.

    https://linear.app/developers/attachments
    """
    every = world.all(Attachment)
    for one in every:
        if one.issue == issue.id and one.url == facts["url"]:
            old = {"updatedAt": moment(one.updated), "title": one.title}
            for name in ("title", "subtitle", "metadata", "source_type"):
                if facts.get(name):
                    setattr(one, name, facts[name])
            one.updated = world.clock.now()
            webhooks.tell(world, one, "update", actor, old)
            return one
    facts = {**world.new(), "issue": issue.id, "creator": actor.id, **facts}
    made = world.add(Attachment(**facts))
    issue.updated = made.created
    webhooks.tell(world, made, "create", actor)
    return made


def react(world: World, actor: User, emoji: str, **about: Any) -> Reaction:
    """React to a `comment` or an `issue`, both by id."""
    made = world.add(
        Reaction(**{**world.new(), "user": actor.id, "emoji": emoji, **about})
    )
    webhooks.tell(world, made, "create", actor)
    if made.comment:
        found = world.get(Comment, made.comment)
        more = {"comment": bodies.comment_child(found), "commentId": found.id}
        _tell_of_reaction(world, made, found.issue, found.user, more)
    return made


def _tell_of_reaction(
    world: World, made: Reaction, issue_id: str, author: str | None, more: Json
) -> None:
    """Let an app know that somebody reacted to what it said."""
    if author is None or author == made.user:
        return
    issue, actor = world.get(Issue, issue_id), world.get(User, made.user)
    more["reactionEmoji"] = made.emoji
    sessions.notify(world, "issueCommentReaction", issue, author, actor, **more)


def relate(world: World, source: Issue, target: Issue, kind: str) -> Relation:
    if kind not in ("blocks", "duplicate", "related", "similar"):
        raise invalid("type", "it is no kind of relation")
    return world.add(
        Relation(**world.new(), issue=source.id, related=target.id, type=kind)
    )


def find_label(world: World, workspace: str, team: str, name: str) -> Label:
    """Return a label by its name, the team's own before the workspace's."""
    found = [
        one
        for one in world.all(Label)
        if one.workspace == workspace
        and one.name.lower() == name.lower()
        and one.team in (None, team)
    ]
    if not found:
        raise not_found("IssueLabel")
    return next((one for one in found if one.team), found[0])


def _agents_called(world: World, text: str | None, actor: User) -> Iterable[User]:
    """Yield the apps that a text calls and that may be called, but not the author."""
    for name in dict.fromkeys(_MENTION.findall(_CODE.sub("", text or ""))):
        found = world.called(name, actor.workspace)
        if found is None or not found.app or found.id == actor.id:
            continue
        if "app:mentionable" in world.scopes(found):
            yield found


def remove_entity(world: World, found: Entity, actor: User) -> None:
    """Remove an attachment or a reaction."""
    webhooks.tell(world, found, "remove", actor)
    world.remove(found)
