"""Projects, their members, branches and commits as the API shows them."""

from tests.fakes.github import bare
from tests.fakes.github.comparison import GitCommit, commit_of
from tests.fakes.gitlab.access import group_level, membership_of
from tests.fakes.gitlab.exchange import Json
from tests.fakes.gitlab.render.users import moment, user_json
from tests.fakes.gitlab.state import (
    Level,
    Project,
    PushRules,
    User,
    World,
)

LINKED = ("issues", "merge_requests", "labels", "events", "members")


def project_json(world: World, project: Project, reader: User | None) -> Json:
    """Return the form of a single project; `permissions` are the reader's own.

    What a group lends is not in there, only what the project and the groups above say.
    """
    page = f"{world.base_url}/{project.path}"
    api = f"{world.base_url}/api/v4/projects/{project.id}"
    forked = world.projects.get(project.forked_from or 0)
    shown = {
        **simple_project_json(world, project),
        "visibility": project.visibility.value,
        "archived": project.archived,
        "empty_repo": not world.heads.get(project.id),
        "issues_enabled": True,
        "merge_requests_enabled": True,
        "jobs_enabled": True,
        "issues_access_level": "enabled",
        "merge_requests_access_level": "enabled",
        "creator_id": project.creator,
        "import_status": "none",
        "open_issues_count": 0,
        "ci_config_path": None,
        "merge_method": "merge",
        "squash_option": "default_off",
        "only_allow_merge_if_pipeline_succeeds": False,
        "only_allow_merge_if_all_discussions_are_resolved": False,
        "remove_source_branch_after_merge": True,
        "request_access_enabled": True,
        "approvals_before_merge": project.approvals_required,
        "shared_with_groups": _shares(world, project),
        "_links": {"self": api} | {name: f"{api}/{name}" for name in LINKED},
        "readme_url": f"{page}/-/blob/{project.default_branch}/README.md",
    }
    if forked is not None:
        shown["forked_from_project"] = simple_project_json(world, forked)
    if reader is not None:
        shown["permissions"] = _permissions(world, project, reader)
    return shown


def _shares(world: World, project: Project) -> list[Json]:
    return [
        {
            "group_id": group.id,
            "group_name": group.path.rpartition("/")[2],
            "group_full_path": group.path,
            "group_access_level": int(level),
            "expires_at": None,
        }
        for path, level in project.shared.items()
        if (group := world.groups.get(path.lower()))
    ]


def _permissions(world: World, project: Project, reader: User) -> Json:
    own = project.members.get(reader.id, Level.NONE)
    inherited = group_level(world, project.namespace, reader.id)
    return {"project_access": _access(own), "group_access": _access(inherited)}


def simple_project_json(world: World, project: Project) -> Json:
    page = f"{world.base_url}/{project.path}"
    return {
        "id": project.id,
        "description": None,
        "name": project.name,
        "name_with_namespace": " / ".join(project.path.split("/")),
        "path": project.slug,
        "path_with_namespace": project.path,
        "created_at": moment(project.created_at),
        "default_branch": project.default_branch,
        "tag_list": [],
        "topics": [],
        "ssh_url_to_repo": f"git@gitlab.test:{project.path}.git",
        "http_url_to_repo": f"{page}.git",
        "web_url": page,
        "avatar_url": None,
        "forks_count": 0,
        "star_count": 0,
        "last_activity_at": moment(world.clock.now()),
        "namespace": namespace_json(world, project),
    }


def namespace_json(world: World, project: Project) -> Json:
    group = world.groups.get(project.namespace.lower())
    person = world.find_user(project.namespace)
    number = group.id if group else (person.id if person else 0)
    prefix = "groups/" if group else ""
    return {
        "id": number,
        "name": project.namespace.split("/")[-1],
        "path": project.namespace.split("/")[-1],
        "kind": "group" if group else "user",
        "full_path": project.namespace,
        "parent_id": None,
        "avatar_url": None,
        "web_url": f"{world.base_url}/{prefix}{project.namespace}",
    }


def _access(level: Level) -> Json | None:
    if level is Level.NONE:
        return None
    return {"access_level": int(level), "notification_level": 3}


def member_json(world: World, user: User, level: Level) -> Json:
    return {
        **user_json(world, user),
        "access_level": int(level),
        "created_at": moment(user.created_at),
        "expires_at": None,
        "membership_state": "active",
        "group_saml_identity": None,
        "email": f"{user.username}@example.test",
    }


def members_json(world: World, project: Project, *, inherited: bool) -> list[Json]:
    """Return the members of the project itself, or all that get in."""
    found = []
    for user in world.users.values():
        level = project.members.get(user.id, Level.NONE)
        if inherited:
            level = membership_of(world, project, user)
        if level > Level.NONE:
            found.append(member_json(world, user, level))
    return found


def commit_json(world: World, project: Project, commit: GitCommit) -> Json:
    return {
        "id": commit.sha,
        "short_id": commit.sha[:8],
        "created_at": commit.committer.date,
        "parent_ids": list(commit.parents),
        "title": commit.message.partition("\n")[0],
        "message": commit.message,
        "author_name": commit.author.name,
        "author_email": commit.author.email,
        "authored_date": commit.author.date,
        "committer_name": commit.committer.name,
        "committer_email": commit.committer.email,
        "committed_date": commit.committer.date,
        "trailers": {},
        "extended_trailers": {},
        "web_url": f"{world.base_url}/{project.path}/-/commit/{commit.sha}",
    }


def branch_json(world: World, project: Project, name: str, level: Level) -> Json:
    sha = bare.find_commit(project.git, f"refs/heads/{name}") or ""
    protection = project.protected.get(name)
    may_push = level >= Level.DEVELOPER
    if protection is not None:
        may_push = Level.NONE < protection.push <= level
    return {
        "name": name,
        "commit": commit_json(world, project, commit_of(project.git, sha)),
        "merged": False,
        "protected": protection is not None,
        "developers_can_push": bool(
            protection and Level.NONE < protection.push <= Level.DEVELOPER
        ),
        "developers_can_merge": bool(
            protection and protection.merge <= Level.DEVELOPER
        ),
        "can_push": may_push,
        "default": name == project.default_branch,
        "web_url": f"{world.base_url}/{project.path}/-/tree/{name}",
    }


def protected_json(project: Project, name: str) -> Json:
    protection = project.protected[name]
    return {
        "id": project.id,
        "name": name,
        "push_access_levels": [_level_json(protection.push)],
        "merge_access_levels": [_level_json(protection.merge)],
        "unprotect_access_levels": [],
        "allow_force_push": protection.allow_force_push,
        "code_owner_approval_required": False,
        "inherited": False,
    }


def _level_json(level: Level) -> Json:
    words = {Level.NONE: "No one", Level.DEVELOPER: "Developers + Maintainers"}
    return {
        "id": int(level) + 1,
        "access_level": int(level),
        "access_level_description": words.get(level, "Maintainers"),
        "deploy_key_id": None,
        "user_id": None,
        "group_id": None,
    }


def push_rule_json(project: Project, rules: PushRules) -> Json:
    return {
        "id": project.id,
        "project_id": project.id,
        "created_at": moment(project.created_at),
        "commit_message_regex": rules.commit_message,
        "commit_message_negative_regex": rules.negative_message,
        "branch_name_regex": rules.branch_name,
        "deny_delete_tag": False,
        "member_check": False,
        "prevent_secrets": rules.prevent_secrets,
        "author_email_regex": rules.author_email,
        "file_name_regex": rules.file_name,
        "max_file_size": rules.max_file_mb,
        "commit_committer_check": False,
        "commit_committer_name_check": False,
        "reject_unsigned_commits": rules.reject_unsigned,
        "reject_non_dco_commits": False,
    }
