"""The questions of the API; each method has the name of its field."""

from dataclasses import dataclass
from typing import Any

from tests.fakes.linear.auth import Caller
from tests.fakes.linear.exchange import Json, invalid, not_found
from tests.fakes.linear.limits import Buckets
from tests.fakes.linear.render import View
from tests.fakes.linear.state import (
    AgentActivity,
    AgentSession,
    Attachment,
    Comment,
    Entity,
    Issue,
    Kept,
    Label,
    Team,
    User,
    Webhook,
    WorkflowState,
    Workspace,
    World,
)

# What is found by its id alone, and what there are lists of.
_ONE: dict[str, tuple[type[Entity], str]] = {
    "agentActivity": (AgentActivity, "AgentActivity"),
    "agentSession": (AgentSession, "AgentSession"),
    "attachment": (Attachment, "Attachment"),
    "issueLabel": (Label, "IssueLabel"),
    "user": (User, "User"),
    "webhook": (Webhook, "Webhook"),
    "workflowState": (WorkflowState, "WorkflowState"),
}
_MANY: dict[str, type[Entity]] = {
    "agentActivities": AgentActivity,
    "agentSessions": AgentSession,
    "attachments": Attachment,
    "comments": Comment,
    "issueLabels": Label,
    "issues": Issue,
    "teams": Team,
    "users": User,
    "webhooks": Webhook,
    "workflowStates": WorkflowState,
}


@dataclass(frozen=True)
class Scope:
    """One caller in one world: what they see, and what they may look up."""

    world: World
    caller: Caller
    buckets: Buckets

    @property
    def view(self) -> View:
        return View(self.world, self.caller.user)

    def find(self, kind: type[Kept], name: str, entity_id: str | None) -> Kept:
        """Return what has that id, or say that there is no such thing to see."""
        try:
            found = self.world.get(kind, entity_id)
        except LookupError as problem:
            raise not_found(name) from problem
        if not self.view.sees(found):
            raise not_found(name)
        return found

    def find_issue(self, name: str) -> Issue:
        try:
            found = self.world.issue(name)
        except LookupError as problem:
            raise not_found("Issue") from problem
        if not self.view.sees(found):
            raise not_found("Issue")
        return found


def fields(scope: Scope) -> Json:
    """Return what answers each field of the type `Query`."""
    view, world = scope.view, scope.world

    def one(kind: type[Entity], name: str) -> Any:
        return lambda _, id: view.show(scope.find(kind, name, id))  # noqa: A006 - the schema's name

    def many(kind: type[Entity]) -> Any:
        return lambda _, **args: view.connection(world.all(kind), args)

    return {
        **{field: one(kind, name) for field, (kind, name) in _ONE.items()},
        **{field: many(kind) for field, kind in _MANY.items()},
        "viewer": lambda _: view.user(scope.caller.user),
        "organization": lambda _: view.organization(
            world.get(Workspace, scope.caller.user.workspace)
        ),
        "issue": lambda _, id: view.issue(scope.find_issue(id)),  # noqa: A006 - as above
        "comment": lambda _, id=None, hash=None: view.comment(  # noqa: A006 - as above
            scope.find(Comment, "Comment", id or _by_hash(scope, hash))
        ),
        "team": lambda _, id: view.team(_team(scope, id)),  # noqa: A006 - as above
        "attachmentsForURL": lambda _, url, **args: view.connection(
            [one for one in world.all(Attachment) if one.url == url], args
        ),
        "issueVcsBranchSearch": lambda _, **args: _by_branch(scope, args["branchName"]),
        "searchIssues": lambda _, term, **args: _search(scope, term, args),
        "issueRepositorySuggestions": lambda _, **args: _suggest(scope, args),
        "applicationInfo": lambda _, **args: _application(scope, args["clientId"]),
        "rateLimitStatus": lambda _: scope.buckets.status(scope.caller.name),
    }


def _team(scope: Scope, name: str) -> Team:
    """Find a team by its id, or by its key."""
    for one in scope.world.all(Team):
        if name in (one.id, one.key) and scope.view.sees(one):
            return one
    raise not_found("Team")


def _by_hash(scope: Scope, start: str | None) -> str:
    """Find a comment by how its id begins, as addresses of pages have it."""
    if not start:
        raise invalid("id", "either id or hash is needed")
    found = (one.id for one in scope.world.all(Comment) if one.id.startswith(start))
    return next(found, "")


def _by_branch(scope: Scope, name: str) -> Json | None:
    for one in scope.world.all(Issue):
        parts = name.lower().rpartition("/")[2]
        identifier = scope.world.identifier(one).lower()
        if scope.view.sees(one) and f"{parts}-".startswith(f"{identifier}-"):
            return scope.view.issue(one)
    return None


def _search(scope: Scope, term: str, args: Json) -> Json:
    world = scope.world

    def fits(one: Issue) -> bool:
        text = f"{world.identifier(one)} {one.title} {one.description or ''}"
        if args.get("includeComments"):
            text += " ".join(said.body for said in world.comments(one))
        return all(word in text.lower() for word in term.lower().split())

    found = [one for one in world.all(Issue) if fits(one)]
    return {**scope.view.connection(found, args), "totalCount": float(len(found))}


def _suggest(scope: Scope, args: Json) -> Json:
    """Rank those candidates that Linear thinks an issue is about."""
    issue = scope.find_issue(args["issueId"])
    shown = [
        {
            "repositoryFullName": one["repositoryFullName"],
            "hostname": one["hostname"],
            "confidence": issue.suggestions[one["repositoryFullName"]],
        }
        for one in args["candidateRepositories"]
        if one["repositoryFullName"] in issue.suggestions
    ]
    return {"suggestions": sorted(shown, key=lambda one: -one["confidence"])}


def _application(scope: Scope, client_id: str) -> Json:
    found = scope.world.apps.get(client_id)
    if found is None:
        raise not_found("OauthClient")
    return {
        "id": found.client_id,
        "clientId": found.client_id,
        "name": found.name,
        "description": None,
        "developer": found.name,
        "developerUrl": "https://example.com",
        "imageUrl": None,
    }
