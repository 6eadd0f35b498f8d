"""Tell of branches and tags that were pushed, made or deleted."""

from tests.fakes.github.bare import find_commit
from tests.fakes.github.comparison import GitCommit, changed_files, commits_between
from tests.fakes.gitlab.exchange import Json
from tests.fakes.gitlab.refs import list_refs
from tests.fakes.gitlab.render.users import avatar
from tests.fakes.gitlab.state import Project, World
from tests.fakes.gitlab.webhooks.facts import (
    commit_facts,
    project_facts,
    repository_facts,
)
from tests.fakes.gitlab.webhooks.outbox import PUSH, TAG_PUSH, announce

NO_COMMIT = "0" * 40
SHOWN = 20


def tell_pushes(world: World, project: Project, actor: int) -> set[str]:
    """Tell what changed since this was last asked, and return the branches."""
    before = world.heads.get(project.id, {})
    now = list_refs(project.git)
    world.heads[project.id] = now
    moved = set()
    for ref in sorted(before.keys() | now.keys()):
        old, new = before.get(ref, NO_COMMIT), now.get(ref, NO_COMMIT)
        if old != new:
            _tell(world, project, actor, ref, (old, new))
            moved.add(ref.removeprefix("refs/heads/"))
    return moved


def _tell(
    world: World, project: Project, actor: int, ref: str, move: tuple[str, str]
) -> None:
    event = TAG_PUSH if ref.startswith("refs/tags/") else PUSH
    announce(
        world,
        project.id,
        event,
        lambda: _push_json(world, project, actor, ref, move),
    )


def _push_json(
    world: World, project: Project, actor: int, ref: str, move: tuple[str, str]
) -> Json:
    before, after = move
    user = world.users[actor]
    commits = _commits(project, before, after)
    kind = "tag_push" if ref.startswith("refs/tags/") else "push"
    return {
        "object_kind": kind,
        "event_name": kind,
        "before": before,
        "after": after,
        "ref": ref,
        "ref_protected": ref.removeprefix("refs/heads/") in project.protected,
        "checkout_sha": None if after == NO_COMMIT else after,
        "message": None,
        "user_id": user.id,
        "user_name": user.name,
        "user_username": user.username,
        "user_email": "",
        "user_avatar": avatar(user),
        "project_id": project.id,
        "project": project_facts(world, project),
        "commits": [_commit(world, project, one) for one in commits[-SHOWN:]],
        "total_commits_count": len(commits),
        "push_options": {},
        "repository": {
            **repository_facts(world, project),
            "git_http_url": f"{world.base_url}/{project.path}.git",
            "git_ssh_url": f"git@gitlab.test:{project.path}.git",
            "visibility_level": project.visibility.level,
        },
    }


def _commits(project: Project, before: str, after: str) -> list[GitCommit]:
    """Return what a push brought; a new branch brings what the default one lacks."""
    if after == NO_COMMIT:
        return []
    if before == NO_COMMIT:
        default = find_commit(project.git, f"refs/heads/{project.default_branch}")
        return commits_between(project.git, default, after) if default else []
    return commits_between(project.git, before, after)


def _commit(world: World, project: Project, commit: GitCommit) -> Json:
    parent = commit.parents[0] if commit.parents else None
    files = changed_files(project.git, parent, commit.sha) if parent else []
    return {
        **commit_facts(world, project, commit),
        "added": [one.path for one in files if one.status == "added"],
        "modified": [one.path for one in files if one.status == "modified"],
        "removed": [one.path for one in files if one.status == "removed"],
    }
