"""What the bodies of webhooks say of people, projects, labels and commits."""

from datetime import datetime

from tests.fakes.github.comparison import GitCommit
from tests.fakes.gitlab.exchange import Json
from tests.fakes.gitlab.render.users import avatar
from tests.fakes.gitlab.state import Project, World
from tests.fakes.gitlab.thread_state import Thread


def moment(at: datetime | None) -> str | None:
    """Write a time as webhooks do, which is not as the API does."""
    return None if at is None else f"{at:%Y-%m-%d %H:%M:%S} UTC"


def user_facts(world: World, user: int) -> Json:
    found = world.users[user]
    return {
        "id": found.id,
        "name": found.name,
        "username": found.username,
        "avatar_url": avatar(found),
        "email": "[REDACTED]",
    }


def person_facts(world: World, user: int) -> Json:
    """Return what is said of somebody in a list."""
    return {
        name: value
        for name, value in user_facts(world, user).items()
        if name in {"id", "name", "username", "avatar_url"}
    }


def project_facts(world: World, project: Project) -> Json:
    page = f"{world.base_url}/{project.path}"
    ssh = f"git@gitlab.test:{project.path}.git"
    return {
        "id": project.id,
        "name": project.name,
        "description": None,
        "web_url": page,
        "avatar_url": None,
        "git_ssh_url": ssh,
        "git_http_url": f"{page}.git",
        "namespace": project.namespace.rpartition("/")[2],
        "visibility_level": project.visibility.level,
        "path_with_namespace": project.path,
        "default_branch": project.default_branch,
        "ci_config_path": None,
        "homepage": page,
        "url": ssh,
        "ssh_url": ssh,
        "http_url": f"{page}.git",
    }


def repository_facts(world: World, project: Project) -> Json:
    page = f"{world.base_url}/{project.path}"
    return {
        "name": project.name,
        "url": f"git@gitlab.test:{project.path}.git",
        "description": None,
        "homepage": page,
    }


def label_facts(world: World, thread: Thread, name: str) -> Json:
    label = world.labels[thread.project, name]
    return {
        "id": label.id,
        "title": label.name,
        "color": label.color,
        "project_id": label.project,
        "created_at": moment(label.created_at),
        "updated_at": moment(label.created_at),
        "template": False,
        "description": label.description,
        "type": "ProjectLabel",
        "group_id": None,
    }


def labels_facts(world: World, thread: Thread) -> list[Json]:
    return [label_facts(world, thread, name) for name in thread.labels]


def commit_facts(world: World, project: Project, commit: GitCommit) -> Json:
    return {
        "id": commit.sha,
        "message": commit.message,
        "title": commit.message.partition("\n")[0],
        "timestamp": commit.committer.date,
        "url": f"{world.base_url}/{project.path}/-/commit/{commit.sha}",
        "author": {"name": commit.author.name, "email": commit.author.email},
    }
