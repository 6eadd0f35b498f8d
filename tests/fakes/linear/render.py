"""What the API shows of things, to one caller; what leads elsewhere is a function."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tests.fakes.linear.exchange import Json
from tests.fakes.linear.facts import (
    comment_url,
    issue_facts,
    moment,
    project_url,
    session_url,
    slug,
    times,
    user_url,
)
from tests.fakes.linear.filters import connect
from tests.fakes.linear.state import (
    AgentActivity,
    AgentSession,
    Attachment,
    Change,
    Comment,
    Entity,
    Issue,
    Label,
    Project,
    Reaction,
    Relation,
    Team,
    User,
    Webhook,
    WorkflowState,
    Workspace,
    World,
)


@dataclass(frozen=True)
class View:
    """Shows things as `caller` may see them."""

    world: World
    caller: User

    def issue(self, found: Issue) -> Json:
        world = self.world
        named = (found.title, found.description or "")
        said = (one.body for one in world.comments(found))
        return {
            **issue_facts(world, found),
            **self._people(found),
            **self._around(found),
            "searchableContent": "\n".join((*named, *said)),
            "metadata": {},
            "branchName": self.branch(found),
            "integrationSourceType": self._source_type(found),
            "state": lambda *_: self.state(world.get(WorkflowState, found.state)),
            "team": lambda *_: self.team(world.get(Team, found.team)),
            "project": lambda *_: self._project(found.project),
            "labels": lambda *_, **args: self.connection(
                [world.get(Label, one) for one in found.labels], args
            ),
            "parent": lambda *_: (
                self.issue(world.get(Issue, found.parent)) if found.parent else None
            ),
        }

    def _people(self, found: Issue) -> Json:
        return {
            "creator": lambda *_: self._user(found.creator),
            "assignee": lambda *_: self._user(found.assignee),
            "delegate": lambda *_: self._user(found.delegate),
            "subscribers": lambda *_, **args: self.connection(
                [self.world.get(User, one) for one in found.subscribers], args
            ),
        }

    def _around(self, found: Issue) -> Json:
        world = self.world

        def of_issue(kind: type[Any]) -> Any:
            return lambda *_, **args: self.connection(
                [one for one in world.all(kind) if one.issue == found.id], args
            )

        return {
            "comments": of_issue(Comment),
            "attachments": of_issue(Attachment),
            "agentSessions": of_issue(AgentSession),
            "relations": of_issue(Relation),
            "history": of_issue(Change),
            "inverseRelations": lambda *_, **args: self.connection(
                [one for one in world.all(Relation) if one.related == found.id], args
            ),
            "children": lambda *_, **args: self.connection(
                [one for one in world.all(Issue) if one.parent == found.id], args
            ),
            "reactions": lambda *_: [
                self.reaction(one)
                for one in world.all(Reaction)
                if one.issue == found.id
            ],
        }

    def branch(self, found: Issue) -> str:
        """Return the name that Linear offers whoever asks for a branch."""
        name = self.world.identifier(found).lower()
        return f"{self.caller.display_name}/{name}-{slug(found.title)}"

    def _source_type(self, found: Issue) -> str | None:
        if found.synced_with is None:
            return None
        return "gitlab" if "gitlab" in found.synced_with else "github"

    def comment(self, found: Comment) -> Json:
        world = self.world

        def sessions() -> list[AgentSession]:
            every = world.all(AgentSession)
            return [one for one in every if one.comment == found.id]

        return {
            **times(found),
            "body": found.body,
            "url": comment_url(world, found),
            "editedAt": moment(found.edited),
            "resolvedAt": moment(found.resolved),
            "quotedText": found.quoted,
            "hideInLinear": False,
            "isArtificialAgentSessionRoot": found.is_session_root,
            "issueId": found.issue,
            "parentId": found.parent,
            "issue": lambda *_: self.issue(world.get(Issue, found.issue)),
            "user": lambda *_: self._user(found.user),
            "parent": lambda *_: (
                self.comment(world.get(Comment, found.parent)) if found.parent else None
            ),
            "children": lambda *_, **args: self.connection(
                [one for one in world.all(Comment) if one.parent == found.id], args
            ),
            "reactions": lambda *_: [
                self.reaction(one)
                for one in world.all(Reaction)
                if one.comment == found.id
            ],
            "agentSession": lambda *_: next(map(self.session, sessions()), None),
            "agentSessions": lambda *_, **args: self.connection(sessions(), args),
        }

    def session(self, found: AgentSession) -> Json:
        world = self.world
        links = list(found.external_urls)
        return {
            **times(found),
            "status": found.status,
            "type": "commentThread",
            "slugId": found.id.replace("-", "")[:12],
            "url": session_url(world, found),
            "context": {},
            "summary": found.summary,
            "plan": found.plan,
            "startedAt": moment(found.started),
            "endedAt": moment(found.ended),
            "dismissedAt": moment(found.dismissed),
            "externalUrls": links,
            "externalLinks": links,
            "externalLink": links[0]["url"] if links else None,
            "appUser": lambda *_: self._user(found.app_user),
            "creator": lambda *_: self._user(found.creator),
            "issue": lambda *_: self.issue(world.get(Issue, found.issue)),
            "comment": lambda *_: self._comment(found.comment),
            "sourceComment": None,
            "activities": lambda *_, **args: self.connection(
                world.activities(found), args
            ),
        }

    def activity(self, found: AgentActivity) -> Json:
        kind = f"{found.content['type']}".capitalize()
        return {
            **times(found),
            "content": {**found.content, "__typename": f"AgentActivity{kind}Content"},
            "ephemeral": found.ephemeral,
            "signal": found.signal,
            "signalMetadata": found.signal_metadata,
            "agentSession": lambda *_: self.session(
                self.world.get(AgentSession, found.session)
            ),
            "sourceComment": lambda *_: self._comment(found.source_comment),
            "user": lambda *_: self._user(found.user),
        }

    def user(self, found: User) -> Json:
        world = self.world

        def issues_by(field: str) -> Any:
            return lambda *_, **args: self.connection(
                [one for one in world.all(Issue) if getattr(one, field) == found.id],
                args,
            )

        return {
            **times(found),
            "name": found.name,
            "displayName": found.display_name,
            "email": found.email,
            "url": user_url(world, found),
            "active": found.active,
            "admin": found.admin,
            "owner": found.admin,
            "app": found.app,
            "guest": found.guest,
            "isMe": found.id == self.caller.id,
            "isAssignable": True,
            "isMentionable": True,
            "supportsAgentSessions": found.app,
            "gitHubUserId": None,
            "organization": lambda *_: self.organization(
                world.get(Workspace, found.workspace)
            ),
            "assignedIssues": issues_by("assignee"),
            "delegatedIssues": issues_by("delegate"),
            "teams": lambda *_, **args: self.connection(
                [one for one in world.all(Team) if world.may_see(found, one.id)], args
            ),
        }

    def team(self, found: Team) -> Json:
        world = self.world
        states = world.states(found.id)

        def of_team(kind: type[Any]) -> Any:
            return lambda *_, **args: self.connection(
                [one for one in world.all(kind) if one.team == found.id], args
            )

        return {
            **times(found),
            "key": found.key,
            "name": found.name,
            "displayName": found.name,
            "description": None,
            "parent": None,
            "private": found.members is not None,
            "visibility": "public" if found.members is None else "private",
            "triageEnabled": any(one.type == "triage" for one in states),
            "states": of_team(WorkflowState),
            "issues": of_team(Issue),
            "labels": of_team(Label),
            "projects": lambda *_, **args: self.connection(
                [one for one in world.all(Project) if found.id in one.teams], args
            ),
            "members": lambda *_, **args: self.connection(
                [one for one in world.all(User) if world.may_see(one, found.id)], args
            ),
            "defaultIssueState": lambda *_: self.state(first_state(states)),
            "organization": lambda *_: self.organization(
                world.get(Workspace, found.workspace)
            ),
        }

    def state(self, found: WorkflowState) -> Json:
        world = self.world
        return {
            **times(found),
            "name": found.name,
            "type": found.type,
            "position": found.position,
            "color": found.color,
            "description": None,
            "team": lambda *_: self.team(world.get(Team, found.team)),
            "issues": lambda *_, **args: self.connection(
                [one for one in world.all(Issue) if one.state == found.id], args
            ),
        }

    def label(self, found: Label) -> Json:
        team = found.team
        return {
            **times(found),
            "name": found.name,
            "color": found.color,
            "description": None,
            "isGroup": False,
            "parent": None,
            "team": lambda *_: self.team(self.world.get(Team, team)) if team else None,
        }

    def project(self, found: Project) -> Json:
        world = self.world
        return {
            **times(found),
            "name": found.name,
            "description": found.description,
            "slugId": found.id[:12],
            "url": project_url(world, found),
            "lead": None,
            "teams": lambda *_, **args: self.connection(
                [world.get(Team, one) for one in found.teams], args
            ),
            "issues": lambda *_, **args: self.connection(
                [one for one in world.all(Issue) if one.project == found.id], args
            ),
        }

    def change(self, found: Change) -> Json:
        """Show an entry of the history of an issue."""
        old, new = found.old, found.new
        is_described = "description" in old
        sides: Json = {}
        for side, values in (("from", old), ("to", new)):
            sides[f"{side}Title"] = values.get("title")
            for name in ("Assignee", "Delegate", "Project", "State", "Team"):
                sides[f"{side}{name}"] = self._lead(values.get(name.lower()))
        before, after = old.get("labels", ()), new.get("labels", ())
        return {
            **times(found),
            **sides,
            **self._labels_of("added", [one for one in after if one not in before]),
            **self._labels_of("removed", [one for one in before if one not in after]),
            "issue": lambda *_: self.issue(self.world.get(Issue, found.issue)),
            "actorId": found.actor,
            "actor": lambda *_: self._user(found.actor),
            "updatedDescription": is_described or None,
            "descriptionUpdatedBy": lambda *_: (
                [self._user(found.actor)] if is_described else None
            ),
            "archived": "archived" in new or None,
            "trashed": new.get("trashed"),
        }

    def _labels_of(self, side: str, labels: list[str]) -> Json:
        shown = [self.world.get(Label, one) for one in labels]
        return {
            f"{side}LabelIds": labels or None,
            f"{side}Labels": lambda *_: [self.label(one) for one in shown] or None,
        }

    def _lead(self, entity_id: str | None) -> Any:
        """Lead to what has that id, if anything has."""
        found = self.world.entities.get(entity_id or "")
        return lambda *_: None if found is None else self.show(found)

    def attachment(self, found: Attachment) -> Json:
        source = {"type": found.source_type} if found.source_type else None
        return {
            **times(found),
            "url": found.url,
            "title": found.title,
            "subtitle": found.subtitle,
            "metadata": found.metadata,
            "source": source,
            "sourceType": found.source_type,
            "groupBySource": found.group_by_source,
            "creator": lambda *_: self._user(found.creator),
            "issue": lambda *_: self.issue(self.world.get(Issue, found.issue)),
        }

    def reaction(self, found: Reaction) -> Json:
        issue = found.issue
        return {
            **times(found),
            "emoji": found.emoji,
            "user": lambda *_: self._user(found.user),
            "comment": lambda *_: self._comment(found.comment),
            "issue": lambda *_: (
                self.issue(self.world.get(Issue, issue)) if issue else None
            ),
        }

    def relation(self, found: Relation) -> Json:
        world = self.world
        return {
            **times(found),
            "type": found.type,
            "issue": lambda *_: self.issue(world.get(Issue, found.issue)),
            "relatedIssue": lambda *_: self.issue(world.get(Issue, found.related)),
        }

    def webhook(self, found: Webhook) -> Json:
        team = found.team
        return {
            **times(found),
            "url": found.url,
            "label": found.label,
            "enabled": found.enabled,
            "resourceTypes": list(found.resource_types),
            "secret": found.secret,
            "allPublicTeams": team is None,
            "creator": lambda *_: self._user(found.creator),
            "team": lambda *_: self.team(self.world.get(Team, team)) if team else None,
        }

    def organization(self, found: Workspace) -> Json:
        world = self.world
        people = [one for one in world.all(User) if one.workspace == found.id]
        teams = [one for one in world.all(Team) if one.workspace == found.id]
        return {
            **times(found),
            "name": found.name,
            "urlKey": found.url_key,
            "userCount": len(people),
            "users": lambda *_, **args: self.connection(people, args),
            "teams": lambda *_, **args: self.connection(teams, args),
        }

    def connection(self, found: Iterable[Entity], args: Json) -> Json:
        """Show one page of things of any kind, without those of hidden teams."""
        return connect([self.show(one) for one in found if self.sees(one)], args)

    def show(self, found: Entity) -> Json:
        name = _METHODS[type(found)]
        shown: Json = getattr(self, name)(found)
        return shown

    def sees(self, found: Entity) -> bool:
        """Tell whether it is in the caller's workspace, and in no hidden team."""
        world = self.world
        match found:
            case Workspace():
                return found.id == self.caller.workspace
            case User() | Project() | Webhook():
                return found.workspace == self.caller.workspace
            case Team():
                return world.may_see(self.caller, found.id)
            case Label():
                is_here = found.workspace == self.caller.workspace
                return is_here and (
                    found.team is None or world.may_see(self.caller, found.team)
                )
            case Issue() | WorkflowState():
                return world.may_see(self.caller, found.team)
            case Comment() | Attachment() | AgentSession() | Relation() | Change():
                return self.sees(world.get(Issue, found.issue))
            case AgentActivity():
                return self.sees(world.get(AgentSession, found.session))
            case Reaction():
                about = found.comment or found.issue or ""
                return self.sees(world.entities[about])
            case _:
                return False

    def _user(self, user: str | None) -> Json | None:
        return self.user(self.world.get(User, user)) if user else None

    def _comment(self, comment: str | None) -> Json | None:
        return self.comment(self.world.get(Comment, comment)) if comment else None

    def _project(self, project: str | None) -> Json | None:
        return self.project(self.world.get(Project, project)) if project else None


def first_state(states: list[WorkflowState], kind: str = "") -> WorkflowState:
    """Return the first state of a type; where new issues begin without one."""
    kinds = (kind,) if kind else ("unstarted", "backlog")
    return next(one for name in kinds for one in states if one.type == name)


_METHODS: dict[type[Entity], str] = {
    AgentActivity: "activity",
    AgentSession: "session",
    Attachment: "attachment",
    Change: "change",
    Comment: "comment",
    Issue: "issue",
    Label: "label",
    Project: "project",
    Reaction: "reaction",
    Relation: "relation",
    Team: "team",
    User: "user",
    Webhook: "webhook",
    WorkflowState: "state",
    Workspace: "organization",
}
