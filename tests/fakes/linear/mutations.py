"""What the API changes; each field answers with whether it went well."""

import uuid
from collections.abc import Callable
from datetime import datetime

from tests.fakes.linear import acts, files, sessions
from tests.fakes.linear.exchange import (
    Json,
    RefusedError,
    forbidden,
    invalid,
    not_found,
)
from tests.fakes.linear.queries import Scope
from tests.fakes.linear.state import (
    AgentSession,
    Attachment,
    Comment,
    Issue,
    Label,
    Project,
    Reaction,
    Team,
    User,
    Webhook,
    WorkflowState,
)

UUID_VERSION = 4
# Which of a person's words become which field of an issue.
_ISSUE_FIELDS = {
    "title": "title",
    "description": "description",
    "assigneeId": "assignee",
    "delegateId": "delegate",
    "labelIds": "labels",
    "parentId": "parent",
    "projectId": "project",
    "priority": "priority",
    "estimate": "estimate",
    "dueDate": "due",
    "sortOrder": "sort_order",
    "stateId": "state",
    "subscriberIds": "subscribers",
    "teamId": "team",
    "trashed": "trashed",
}


def fields(scope: Scope) -> Json:
    """Return what answers each field of the type `Mutation`."""
    return {
        name: _bound(scope, act)
        for table in (_ISSUES, _COMMENTS, _ATTACHMENTS, _SESSIONS, _WEBHOOKS)
        for name, act in table.items()
    }


Act = Callable[[Scope, Json], Json]


def _bound(scope: Scope, act: Act) -> Callable[..., Json]:
    return lambda _, **args: {"success": True, "lastSyncId": 1.0, **act(scope, args)}


def _input(args: Json) -> Json:
    """Return the input of a mutation, in which whatever was not given is absent."""
    found: Json = args["input"]
    return found


def _given_id(scope: Scope, asked: Json, kind: str) -> Json:
    """Take an id that the caller chose: a new UUID of version 4."""
    wanted = asked.get("id")
    if wanted is None:
        return {}
    try:
        version = uuid.UUID(wanted).version
    except ValueError:
        version = None
    if version != UUID_VERSION:
        raise invalid("id", "id must be a UUID of version 4")
    if wanted in scope.world.entities or wanted in scope.world.gone:
        raise RefusedError(
            f"Entity already exists: {kind}",
            shown=f"There is already a {kind} with that id.",
        )
    return {"id": wanted}


def _created_as(scope: Scope, asked: Json) -> Json:
    """Let an app name a person beside itself, which nobody else may.

    https://linear.app/developers/oauth-actor-authorization
    """
    name = asked.get("createAsUser") or asked.get("displayIconUrl")
    if name and not scope.caller.is_app:
        raise invalid("createAsUser", "it can be used with actor=app alone")
    return {"created_as": asked.get("createAsUser") or ""}


def _create_issue(scope: Scope, args: Json) -> Json:
    scope.caller.need("write", "issues:create")
    asked = _input(args)
    if not asked.get("title"):
        raise invalid("title", "title should not be empty")
    team = scope.find(Team, "Team", asked["teamId"])
    more = _issue_changes(scope, asked, team.id)
    for name in ("team", "title"):
        more.pop(name, None)
    more |= _given_id(scope, asked, "Issue") | _created_as(scope, asked)
    user = scope.caller.user
    made = acts.create(scope.world, team.id, user, asked["title"], **more)
    return {"issue": scope.view.issue(made)}


def _update_issue(scope: Scope, args: Json) -> Json:
    scope.caller.need("write")
    issue = scope.find_issue(args["id"])
    asked = _input(args)
    changes = _issue_changes(scope, asked, asked.get("teamId") or issue.team)
    labels = list(changes.get("labels", issue.labels))
    added = asked.get("addedLabelIds") or ()
    labels += [scope.find(Label, "IssueLabel", one).id for one in added]
    gone = set(asked.get("removedLabelIds") or ())
    changes["labels"] = [one for one in dict.fromkeys(labels) if one not in gone]
    acts.change(scope.world, issue, scope.caller.user, **changes)
    return {"issue": scope.view.issue(issue)}


def _issue_changes(scope: Scope, asked: Json, team: str) -> Json:
    """Turn words of the API into fields; whatever they name must be there."""
    found = {ours: asked[name] for name, ours in _ISSUE_FIELDS.items() if name in asked}
    if found.get("state"):
        state = scope.find(WorkflowState, "WorkflowState", found["state"])
        if state.team != team:
            raise invalid("stateId", "the state belongs to another team")
    for label_id in found.get("labels") or ():
        label = scope.find(Label, "IssueLabel", label_id)
        if label.team not in (None, team):
            raise invalid("labelIds", "a label belongs to another team")
    for name in ("assignee", "delegate"):
        if found.get(name):
            _check_person(scope, name, found[name])
    if found.get("parent"):
        found["parent"] = scope.find_issue(found["parent"]).id
    if found.get("project"):
        scope.find(Project, "Project", found["project"])
    return found


def _check_person(scope: Scope, field: str, user_id: str) -> None:
    """Agents are delegates and no assignees; people are the other way round."""
    found = scope.find(User, "User", user_id)
    if found.app != (field == "delegate"):
        who = "an agent" if field == "delegate" else "a person"
        raise invalid(f"{field}Id", f"it must be {who}")
    if found.app and "app:assignable" not in scope.world.scopes(found):
        raise invalid("delegateId", "the app is not assignable")


def _label(*, add: bool) -> Act:
    def act(scope: Scope, args: Json) -> Json:
        scope.caller.need("write")
        issue = scope.find_issue(args["id"])
        label = scope.find(Label, "IssueLabel", args["labelId"])
        if label.team not in (None, issue.team):
            raise invalid("labelId", "the label belongs to another team")
        left = [one for one in issue.labels if one != label.id]
        labels = [*left, label.id] if add else left
        if add and label.id in issue.labels:
            labels = issue.labels
        acts.change(scope.world, issue, scope.caller.user, labels=labels)
        return {"issue": scope.view.issue(issue)}

    return act


def _archive_issue(scope: Scope, args: Json) -> Json:
    scope.caller.need("write")
    issue, user = scope.find_issue(args["id"]), scope.caller.user
    if args.get("trash"):
        acts.remove(scope.world, issue, user)
    else:
        acts.change(scope.world, issue, user, archived=scope.world.clock.now())
    return {"entity": scope.view.issue(issue)}


def _delete_issue(scope: Scope, args: Json) -> Json:
    return _archive_issue(scope, {**args, "trash": True})


def _create_comment(scope: Scope, args: Json) -> Json:
    scope.caller.need("write", "comments:create")
    asked, world = _input(args), scope.world
    parent = None
    if asked.get("parentId"):
        parent = scope.find(Comment, "Comment", asked["parentId"])
    if asked.get("issueId"):
        issue = scope.find_issue(asked["issueId"])
    elif parent is not None:
        issue = world.get(Issue, parent.issue)
    else:
        raise invalid("issueId", "a comment needs an issue or a parent")
    if parent is not None and parent.issue != issue.id:
        raise invalid("parentId", "the parent is on another issue")
    _check_body(asked)
    more = _given_id(scope, asked, "Comment") | _created_as(scope, asked)
    if asked.get("createdAt"):
        more["created"] = datetime.fromisoformat(asked["createdAt"])
    made = acts.comment(
        world,
        issue,
        scope.caller.user,
        asked["body"],
        parent=parent,
        quoted=asked.get("quotedText"),
        **more,
    )
    return {"comment": scope.view.comment(made)}


def _check_body(asked: Json) -> None:
    if not (asked.get("body") or "").strip():
        raise invalid("body", "body should not be empty")


def _own_comment(scope: Scope, args: Json) -> Comment:
    scope.caller.need("write")
    found = scope.find(Comment, "Comment", args["id"])
    if found.user != scope.caller.user.id and not scope.caller.user.admin:
        raise forbidden("You cannot change the comments of others")
    return found


def _update_comment(scope: Scope, args: Json) -> Json:
    found, asked = _own_comment(scope, args), _input(args)
    _check_body(asked)
    acts.edit_comment(scope.world, found, scope.caller.user, asked["body"])
    if args.get("skipEditedAt"):
        found.edited = None
    return {"comment": scope.view.comment(found)}


def _delete_comment(scope: Scope, args: Json) -> Json:
    found = _own_comment(scope, args)
    acts.delete_comment(scope.world, found, scope.caller.user)
    return {"entityId": found.id}


def _resolve(*, is_resolved: bool) -> Act:
    def act(scope: Scope, args: Json) -> Json:
        scope.caller.need("write")
        found = scope.find(Comment, "Comment", args["id"])
        found.resolved = scope.world.clock.now() if is_resolved else None
        return {"comment": scope.view.comment(found)}

    return act


def _create_reaction(scope: Scope, args: Json) -> Json:
    scope.caller.need("write")
    asked, about = _input(args), {}
    if asked.get("commentId"):
        about = {"comment": scope.find(Comment, "Comment", asked["commentId"]).id}
    elif asked.get("issueId"):
        about = {"issue": scope.find_issue(asked["issueId"]).id}
    else:
        raise invalid("commentId", "a reaction needs something to be about")
    about |= _given_id(scope, asked, "Reaction")
    made = acts.react(scope.world, scope.caller.user, asked["emoji"], **about)
    return {"reaction": scope.view.reaction(made)}


def _delete_reaction(scope: Scope, args: Json) -> Json:
    scope.caller.need("write")
    found = scope.find(Reaction, "Reaction", args["id"])
    if found.user != scope.caller.user.id:
        raise forbidden("You cannot remove the reactions of others")
    acts.remove_entity(scope.world, found, scope.caller.user)
    return {"entityId": found.id}


def _create_attachment(scope: Scope, args: Json) -> Json:
    asked = _input(args)
    made = _attach(scope, asked, None)
    if asked.get("commentBody"):
        issue = scope.world.get(Issue, made.issue)
        acts.comment(scope.world, issue, scope.caller.user, asked["commentBody"])
    return {"attachment": scope.view.attachment(made)}


def _link(source_type: str | None) -> Act:
    """Attach an address that Linear itself knows how to show."""

    def act(scope: Scope, args: Json) -> Json:
        title = args.get("title") or args["url"]
        made = _attach(scope, {**args, "title": title}, source_type)
        return {"attachment": scope.view.attachment(made)}

    return act


def _attach(scope: Scope, asked: Json, source_type: str | None) -> Attachment:
    scope.caller.need("write", "issues:create")
    issue = scope.find_issue(asked["issueId"])
    if not asked["url"].startswith(("http://", "https://")):
        raise invalid("url", "url must be a URL address")
    given = _given_id(scope, asked, "Attachment")
    _created_as(scope, asked)
    return acts.attach(
        scope.world,
        issue,
        scope.caller.user,
        url=asked["url"],
        title=asked["title"],
        subtitle=asked.get("subtitle"),
        metadata=asked.get("metadata") or {},
        source_type=source_type,
        **given,
    )


def _update_attachment(scope: Scope, args: Json) -> Json:
    scope.caller.need("write")
    found, asked = scope.find(Attachment, "Attachment", args["id"]), _input(args)
    issue = scope.world.get(Issue, found.issue)
    facts = {name: asked[name] for name in ("subtitle", "metadata") if name in asked}
    acts.attach(
        scope.world,
        issue,
        scope.caller.user,
        url=found.url,
        title=asked["title"],
        **facts,
    )
    return {"attachment": scope.view.attachment(found)}


def _delete_attachment(scope: Scope, args: Json) -> Json:
    scope.caller.need("write")
    found = scope.find(Attachment, "Attachment", args["id"])
    acts.remove_entity(scope.world, found, scope.caller.user)
    return {"entityId": found.id}


def _agent(scope: Scope) -> User:
    if not scope.caller.is_app:
        raise forbidden("Only an app with actor=app can be an agent")
    scope.caller.need("write")
    return scope.caller.user


def _act(scope: Scope, args: Json) -> Json:
    asked = _input(args)
    agent = _agent(scope)
    found = scope.find(AgentSession, "AgentSession", asked["agentSessionId"])
    _given_id(scope, asked, "AgentActivity")
    made = sessions.act(scope.world, found, agent, asked)
    return {"agentActivity": scope.view.activity(made)}


def _update_session(scope: Scope, args: Json) -> Json:
    agent = _agent(scope)
    found = scope.find(AgentSession, "AgentSession", args["id"])
    asked = _input(args)
    sessions.update(scope.world, found, agent, asked)
    if "dismissedAt" in asked:
        found.dismissed = scope.world.clock.now() if asked["dismissedAt"] else None
    return {"agentSession": scope.view.session(found)}


def _session_on_issue(scope: Scope, args: Json) -> Json:
    issue = scope.find_issue(_input(args)["issueId"])
    return _begin(scope, args, issue, None)


def _session_on_comment(scope: Scope, args: Json) -> Json:
    comment = scope.find(Comment, "Comment", _input(args)["commentId"])
    return _begin(scope, args, scope.world.get(Issue, comment.issue), comment)


def _begin(scope: Scope, args: Json, issue: Issue, comment: Comment | None) -> Json:
    agent = _agent(scope)
    made = sessions.begin_by_app(scope.world, issue, agent, comment)
    sessions.update(scope.world, made, agent, _input(args))
    return {"agentSession": scope.view.session(made)}


def _create_webhook(scope: Scope, args: Json) -> Json:
    scope.caller.need("admin")
    if not scope.caller.user.admin:
        raise forbidden("Only admins can change webhooks")
    asked, world = _input(args), scope.world
    if not asked.get("teamId") and not asked.get("allPublicTeams"):
        raise invalid("teamId", "either teamId or allPublicTeams is needed")
    if asked.get("teamId"):
        scope.find(Team, "Team", asked["teamId"])
    made = Webhook(
        **{**world.new(), **_given_id(scope, asked, "Webhook")},
        workspace=scope.caller.user.workspace,
        secret=asked.get("secret") or f"lin_wh_{world.ids.new()}",
        resource_types=list(asked["resourceTypes"]),
        url=asked["url"],
        label=asked.get("label"),
        team=asked.get("teamId"),
        enabled=bool(asked.get("enabled")),
        creator=scope.caller.user.id,
    )
    return {"webhook": scope.view.webhook(world.add(made))}


def _own_webhook(scope: Scope, args: Json) -> Webhook:
    scope.caller.need("admin")
    found = scope.find(Webhook, "Webhook", args["id"])
    if found.of_app:
        raise not_found("Webhook")
    return found


def _update_webhook(scope: Scope, args: Json) -> Json:
    found, asked = _own_webhook(scope, args), _input(args)
    names = {"resourceTypes": "resource_types"}
    for name, value in asked.items():
        setattr(found, names.get(name, name), value)
    found.updated = scope.world.clock.now()
    return {"webhook": scope.view.webhook(found)}


def _delete_webhook(scope: Scope, args: Json) -> Json:
    found = _own_webhook(scope, args)
    scope.world.remove(found)
    return {"entityId": found.id}


_ISSUES: dict[str, Act] = {
    "issueCreate": _create_issue,
    "issueUpdate": _update_issue,
    "issueAddLabel": _label(add=True),
    "issueRemoveLabel": _label(add=False),
    "issueArchive": _archive_issue,
    "issueDelete": _delete_issue,
}
_COMMENTS: dict[str, Act] = {
    "commentCreate": _create_comment,
    "commentUpdate": _update_comment,
    "commentDelete": _delete_comment,
    "commentResolve": _resolve(is_resolved=True),
    "commentUnresolve": _resolve(is_resolved=False),
    "reactionCreate": _create_reaction,
    "reactionDelete": _delete_reaction,
}
_ATTACHMENTS: dict[str, Act] = {
    "attachmentCreate": _create_attachment,
    "attachmentUpdate": _update_attachment,
    "attachmentDelete": _delete_attachment,
    "fileUpload": lambda scope, args: files.announce(scope.world, scope.caller, args),
    "attachmentLinkURL": _link(None),
    "attachmentLinkGitHubPR": _link("github"),
    "attachmentLinkGitLabMR": _link("gitlab"),
}
_SESSIONS: dict[str, Act] = {
    "agentActivityCreate": _act,
    "agentSessionUpdate": _update_session,
    "agentSessionUpdateExternalUrl": _update_session,
    "agentSessionCreateOnIssue": _session_on_issue,
    "agentSessionCreateOnComment": _session_on_comment,
}
_WEBHOOKS: dict[str, Act] = {
    "webhookCreate": _create_webhook,
    "webhookUpdate": _update_webhook,
    "webhookDelete": _delete_webhook,
}
