"""Where people are, before anything happens."""

from collections.abc import Iterable
from dataclasses import dataclass

from tests.fakes.linear import oauth, webhooks
from tests.fakes.linear.state import (
    App,
    Label,
    Project,
    Team,
    Token,
    User,
    Webhook,
    WorkflowState,
    Workspace,
    World,
)

SCOPES = frozenset({"read", "write", "app:assignable", "app:mentionable"})
RESOURCES = (
    "Issue",
    "Comment",
    "Attachment",
    "Reaction",
    "IssueLabel",
    "AgentSessionEvent",
    "AppUserNotification",
    "OAuthApp",
    "PermissionChange",
)
STATES = (
    ("Triage", "triage"),
    ("Backlog", "backlog"),
    ("Todo", "unstarted"),
    ("In Progress", "started"),
    ("In Review", "started"),
    ("Done", "completed"),
    ("Canceled", "canceled"),
    ("Duplicate", "canceled"),
)


@dataclass(frozen=True)
class Scene:
    """Sets up workspaces; everything is named by its id, teams and labels by names."""

    world: World

    def add_workspace(self, url_key: str, name: str = "") -> str:
        title = name or url_key.title()
        return self.world.add(
            Workspace(**self.world.new(), name=title, url_key=url_key)
        ).id

    def add_user(
        self,
        workspace: str,
        name: str,
        display_name: str = "",
        *,
        admin: bool = False,
        guest: bool = False,
    ) -> str:
        """Make an account with a personal key; people call it `@name`."""
        user = User(
            **self.world.new(),
            workspace=workspace,
            name=display_name or name.capitalize(),
            display_name=name,
            email=f"{name}@example.com",
            api_key=f"lin_api_{name}",
            admin=admin,
            guest=guest,
        )
        return self.world.add(user).id

    def key_of(self, user: str) -> str:
        """Return the personal key of somebody."""
        return self.world.get(User, user).api_key

    def add_app(self, workspace: str, name: str, redirect_uris: Iterable[str]) -> App:
        """Register an OAuth application, which nobody has installed yet."""
        app = App(
            name=name,
            client_id=f"client-of-{name.lower()}",
            client_secret=f"secret-of-{name.lower()}",
            redirect_uris=list(redirect_uris),
            workspace=workspace,
        )
        self.world.apps[app.client_id] = app
        return app

    def install(
        self, app: App, workspace: str, scopes: frozenset[str] = SCOPES
    ) -> Token:
        """Install an app without its web flow; return the token of its own user."""
        user = oauth.app_user(self.world, app, workspace)
        return oauth.give_token(self.world, app, user, scopes)

    def add_team(
        self,
        workspace: str,
        key: str,
        name: str = "",
        *,
        members: Iterable[str] | None = None,
    ) -> str:
        """Make a team with the usual states; with `members` it is a private one."""
        seen_by = None if members is None else set(members)
        team = Team(
            **self.world.new(),
            workspace=workspace,
            key=key,
            name=name or key.title(),
            members=seen_by,
        )
        self.world.add(team)
        for place, (title, kind) in enumerate(STATES):
            self.add_state(team.id, title, kind, float(place))
        return team.id

    def add_state(self, team: str, name: str, kind: str, position: float) -> str:
        return self.world.add(
            WorkflowState(
                **self.world.new(), team=team, name=name, type=kind, position=position
            )
        ).id

    def label(self, workspace: str, name: str, team: str | None = None) -> str:
        """Return the label of that name, which is made if there is none yet."""
        for one in self.world.all(Label):
            same = one.name.lower() == name.lower() and one.workspace == workspace
            if same and one.team in (None, team):
                return one.id
        label = Label(**self.world.new(), workspace=workspace, name=name, team=team)
        return self.world.add(label).id

    def add_project(self, workspace: str, name: str, teams: Iterable[str]) -> str:
        project = Project(
            **self.world.new(), workspace=workspace, name=name, teams=list(teams)
        )
        return self.world.add(project).id

    def add_webhook(
        self,
        workspace: str,
        secret: str,
        resources: Iterable[str] = RESOURCES,
        *,
        team: str | None = None,
        of_app: bool = True,
    ) -> Webhook:
        """Add an app's own webhook, or else one of the workspace's settings."""
        hook = Webhook(
            **self.world.new(),
            workspace=workspace,
            secret=secret,
            resource_types=list(resources),
            team=team,
            of_app=of_app,
        )
        return self.world.add(hook)

    def admit(self, app: App, team: str, *, admitted: bool = True) -> None:
        """Let an app see a private team, or no longer, and tell it so."""
        home = self.world.get(Team, team)
        user = oauth.app_user(self.world, app, home.workspace)
        members = set(home.members or ()) - {user.id}
        home.members = members | {user.id} if admitted else members
        told = {
            "oauthClientId": app.client_id,
            "appUserId": user.id,
            "addedTeamIds": [team] if admitted else [],
            "removedTeamIds": [] if admitted else [team],
            "canAccessAllPublicTeams": True,
        }
        webhooks.record(
            self.world,
            "PermissionChange",
            "teamAccessChanged",
            told,
            workspace=home.workspace,
            team=team,
        )

    def uninstall(self, app: App, workspace: str) -> None:
        """Take an app away from a workspace; it is told once, and knows nobody then."""
        user = oauth.app_user(self.world, app, workspace)
        told = {"oauthClientId": app.client_id}
        webhooks.record(
            self.world, "OAuthApp", "revoked", told, workspace=workspace, team=""
        )
        for one in self.world.tokens:
            if one.user == user.id:
                one.revoked = True
        user.active = False
