"""Repositories as GitHub's JSON shows them."""

from tests.fakes.github.exchange import Json
from tests.fakes.github.render.users import instant, user_json
from tests.fakes.github.state import Repo, Role, World

LINKS = {
    "archive_url": "/{archive_format}{/ref}",
    "assignees_url": "/assignees{/user}",
    "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}",
    "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "contributors_url": "/contributors",
    "deployments_url": "/deployments",
    "downloads_url": "/downloads",
    "events_url": "/events",
    "forks_url": "/forks",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "hooks_url": "/hooks",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}",
    "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}",
    "languages_url": "/languages",
    "merges_url": "/merges",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}",
    "releases_url": "/releases{/id}",
    "stargazers_url": "/stargazers",
    "statuses_url": "/statuses/{sha}",
    "subscribers_url": "/subscribers",
    "subscription_url": "/subscription",
    "tags_url": "/tags",
    "teams_url": "/teams",
    "trees_url": "/git/trees{/sha}",
}
COUNTS = ("forks", "forks_count", "size", "stargazers_count")
WATCHERS = ("watchers", "watchers_count")
FEATURES = ("has_downloads", "has_issues", "has_projects", "has_wiki")
ABSENT = ("description", "homepage", "language", "license", "mirror_url")
NOT_SO = (
    "archived",
    "disabled",
    "has_discussions",
    "has_pages",
    "is_template",
    "web_commit_signoff_required",
)


def api_path(world: World, full_name: str) -> str:
    return f"{world.api_url}/repos/{full_name}"


def repository_json(world: World, repo: Repo) -> Json:
    """Return what webhooks and lists say of a repository."""
    url = api_path(world, repo.full_name)
    page = f"{world.web_url}/{repo.full_name}"
    host = page.partition("://")[2]
    issues = [i for i in world.issues_of(repo.full_name) if i.is_open]
    moments = ("created_at", "updated_at", "pushed_at")
    return {
        "id": repo.id,
        "node_id": f"R_{repo.id}",
        "name": repo.name,
        "full_name": repo.full_name,
        "private": repo.private,
        "visibility": "private" if repo.private else "public",
        "owner": user_json(world, world.user(repo.owner)),
        "fork": repo.parent is not None,
        "allow_forking": True,
        "default_branch": repo.default_branch,
        "topics": [],
        "custom_properties": {},
        "html_url": page,
        "url": url,
        "clone_url": f"{page}.git",
        "svn_url": page,
        "git_url": f"git://{host}.git",
        "ssh_url": f"git@{host.replace('/', ':', 1)}.git",
        "open_issues": len(issues),
        "open_issues_count": len(issues),
        **{name: url + suffix for name, suffix in LINKS.items()},
        **dict.fromkeys(moments, instant(repo.created_at)),
        **dict.fromkeys((*COUNTS, *WATCHERS), 0),
        **dict.fromkeys(FEATURES, True),
        **dict.fromkeys(NOT_SO, False),
        **dict.fromkeys(ABSENT),
    }


def full_repository_json(world: World, repo: Repo, role: Role) -> Json:
    """Return what the repository's own address says, `role` being the caller's."""
    full = repository_json(world, repo)
    full["network_count"] = full["subscribers_count"] = 0
    full["permissions"] = permissions_json(role)
    if repo.parent is not None:
        parent = repository_json(world, world.repo(repo.parent))
        full["parent"] = full["source"] = parent
    return full


def permissions_json(role: Role) -> dict[str, bool]:
    return {
        "admin": role >= Role.ADMIN,
        "maintain": role >= Role.MAINTAIN,
        "push": role >= Role.WRITE,
        "triage": role >= Role.TRIAGE,
        "pull": role >= Role.READ,
    }
