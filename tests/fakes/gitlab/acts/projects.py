"""Projects: made, committed to, forked, protected, renamed and moved."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from tests.fakes.github import bare
from tests.fakes.gitlab.acts.accounts import add_group
from tests.fakes.gitlab.acts.follow import follow_pushes
from tests.fakes.gitlab.exchange import refused
from tests.fakes.gitlab.guard import GUARD
from tests.fakes.gitlab.hook_state import FLAGS, Hook
from tests.fakes.gitlab.refs import list_refs
from tests.fakes.gitlab.state import (
    Level,
    Project,
    Protection,
    User,
    Visibility,
    World,
)
from tests.fakes.gitlab.webhooks.facts import moment
from tests.fakes.gitlab.webhooks.outbox import SYSTEM, announce

FOLLOWERS = "refs/merge-requests"


def add_project(
    world: World,
    path: str,
    *,
    default_branch: str,
    visibility: Visibility,
    files: Mapping[str, bare.Content],
) -> Project:
    """Make a project whose first commit holds the files.

    A namespace that is nobody's own becomes a group. The default branch is protected,
    as GitLab does by itself.
    """
    namespace = path.rpartition("/")[0]
    owner = world.find_user(namespace)
    if owner is None:
        add_group(world, namespace)
    creator = owner or next(iter(world.users.values()), None) or _root(world)
    project = _lay_out(world, path, default_branch, visibility, creator)
    if files:
        commit(world, project, default_branch, files, message="Start", actor=creator.id)
    return project


def commit(
    world: World,
    project: Project,
    branch: str,
    files: Mapping[str, bare.Content],
    *,
    message: str,
    actor: int,
) -> str:
    """Commit on a branch and return the commit; None as content deletes a file."""
    sha = bare.commit(
        project.git,
        branch,
        files,
        start=project.default_branch,
        message=message,
        author=world.users[actor].username,
        at=world.clock.now(),
    )
    follow_pushes(world, project, actor)
    return sha


def fork(world: World, project: Project, namespace: str) -> Project:
    """Fork it into a namespace and return the fork."""
    path = f"{namespace}/{project.slug}"
    owner = world.find_user(namespace)
    if owner is None:
        add_group(world, namespace)
    creator = owner or world.users[project.creator]
    made = _lay_out(world, path, project.default_branch, project.visibility, creator)
    bare.fetch(made.git, project.git, "+refs/heads/*:refs/heads/*")
    world.heads[made.id] = list_refs(made.git)
    return world.put_project(replace(made, forked_from=project.id))


def protect(
    world: World,
    project: Project,
    branch: str,
    push: Level = Level.MAINTAINER,
    *,
    allow_force_push: bool = False,
) -> Project:
    """Let only this level and above push; `NONE` lets nobody.

    https://docs.gitlab.com/user/project/repository/branches/protected/
    """
    protection = Protection(push=push, allow_force_push=allow_force_push)
    protected = {**project.protected, branch: protection}
    return world.put_project(replace(project, protected=protected))


def unprotect(world: World, project: Project, branch: str) -> Project:
    protected = {name: one for name, one in project.protected.items() if name != branch}
    return world.put_project(replace(project, protected=protected))


def move(world: World, project: Project, path: str, *, actor: int) -> Project:
    """Give it another name or place; the old path leads to the new one.

    Only the hooks of the whole server hear of it.
    https://docs.gitlab.com/administration/system_hooks/
    """
    moved = world.put_project(replace(project, path=path, name=path.rpartition("/")[2]))
    world.moved[project.path.lower()] = project.id
    if moved.namespace.lower() != project.namespace.lower():
        add_group(world, moved.namespace)
    is_rename = moved.namespace == project.namespace
    name = "project_rename" if is_rename else "project_transfer"
    person = world.users[actor]
    announce(
        world,
        None,
        replace(SYSTEM, action=name),
        lambda: {
            "created_at": moment(moved.created_at),
            "updated_at": moment(world.clock.now()),
            "event_name": name,
            "name": moved.name,
            "owner_email": f"{person.username}@example.test",
            "owner_name": person.name,
            "owners": [{"name": person.name, "email": "[REDACTED]"}],
            "path": moved.slug,
            "path_with_namespace": moved.path,
            "project_id": moved.id,
            "project_namespace_id": moved.id,
            "project_visibility": moved.visibility.value,
            "old_path_with_namespace": project.path,
        },
    )
    return moved


def delete_branch(world: World, project: Project, branch: str, *, actor: int) -> None:
    ref = f"refs/heads/{branch}"
    if bare.find_commit(project.git, ref) is None:
        raise refused(404, "Branch Not Found")
    if branch == project.default_branch:
        raise refused(405, "Default branch can't be deleted")
    if branch in project.protected:
        raise refused(403, "Protected branch")
    bare.git(project.git, "update-ref", "-d", ref)
    follow_pushes(world, project, actor)


def rename_default_branch(
    world: World, project: Project, name: str, *, actor: int
) -> Project:
    bare.git(project.git, "branch", "-m", project.default_branch, name)
    bare.git(project.git, "symbolic-ref", "HEAD", f"refs/heads/{name}")
    renamed = world.put_project(replace(project, default_branch=name))
    follow_pushes(world, renamed, actor)
    return renamed


def add_hook(
    world: World,
    project: Project | None,
    token: str,
    *,
    url: str = "",
    signing_token: str = "",
    events: Mapping[str, bool] | None = None,
) -> Hook:
    """Add a webhook, which listens to everything where nothing is said of that."""
    hook = Hook(
        id=world.next_id(),
        project=project.id if project else None,
        url=url,
        token=token,
        signing_token=signing_token,
        created_at=world.clock.now(),
        events=dict(events) if events is not None else dict.fromkeys(FLAGS, True),
    )
    world.hooks[hook.id] = hook
    return hook


def _lay_out(
    world: World, path: str, default_branch: str, visibility: Visibility, creator: User
) -> Project:
    number = world.next_id()
    folder = Path(world.folder, "repositories", f"{number}.git")
    bare.create(folder, default_branch, followers=FOLLOWERS, guard=GUARD)
    return world.put_project(
        Project(
            id=number,
            path=path,
            name=path.rpartition("/")[2],
            default_branch=default_branch,
            visibility=visibility,
            git=folder,
            created_at=world.clock.now(),
            creator=creator.id,
            protected={default_branch: Protection()},
        )
    )


def _root(world: World) -> User:
    root = User(
        id=world.next_id(),
        username="root",
        name="Administrator",
        created_at=world.clock.now(),
        is_admin=True,
    )
    world.users[root.id] = root
    return root
