"""Tell that all checks of one App on a commit are done."""

from dataclasses import dataclass

from tests.fakes.github.comparison import commit_of
from tests.fakes.github.exchange import Json
from tests.fakes.github.render.pulls import base_sha, head_sha
from tests.fakes.github.render.repositories import api_path, repository_json
from tests.fakes.github.render.users import instant, user_json
from tests.fakes.github.state import Issue, Repo, World
from tests.fakes.github.webhooks.outbox import tell

ACTIONS_SLUG = "github-actions"


@dataclass(frozen=True, kw_only=True)
class SuiteDone:
    """A check suite that has ended; `actor` is who pushed the commit."""

    repo: str
    branch: str
    sha: str
    conclusion: str
    actor: str
    app_slug: str = ACTIONS_SLUG


def send_check_suite(world: World, suite: SuiteDone) -> None:
    with world.lock:
        number = world.next_id()
        tell(
            world,
            suite.repo,
            "check_suite",
            lambda: {
                "action": "completed",
                "check_suite": _suite(world, suite, number),
                "repository": repository_json(world, world.repo(suite.repo)),
                "sender": user_json(world, world.user(suite.actor)),
            },
        )


def _suite(world: World, suite: SuiteDone, number: int) -> Json:
    repo = world.repo(suite.repo)
    url = f"{api_path(world, repo.full_name)}/check-suites/{number}"
    now = instant(world.clock.now())
    return {
        "id": number,
        "node_id": f"CS_{number}",
        "head_branch": suite.branch,
        "head_sha": suite.sha,
        "status": "completed",
        "conclusion": suite.conclusion,
        "url": url,
        "before": suite.sha,
        "after": suite.sha,
        "pull_requests": [
            _proposal(world, repo, issue)
            for issue in world.issues_of(repo.full_name)
            if _is_of(issue, suite)
        ],
        "app": _app(world, suite.app_slug),
        "created_at": now,
        "updated_at": now,
        "latest_check_runs_count": 1,
        "check_runs_url": f"{url}/check-runs",
        "head_commit": _head(repo, suite.sha),
    }


def _is_of(issue: Issue, suite: SuiteDone) -> bool:
    """GitHub lists pull requests of the same repository with that head branch."""
    return (
        issue.pull is not None
        and issue.is_open
        and issue.pull.head_repo.lower() == suite.repo.lower()
        and issue.pull.head_branch == suite.branch
    )


def _proposal(world: World, repo: Repo, issue: Issue) -> Json:
    if issue.pull is None:
        raise LookupError(f"{issue.repo}#{issue.number} is no pull request")
    url = api_path(world, repo.full_name)
    home = {"id": repo.id, "url": url, "name": repo.name}
    return {
        "url": f"{url}/pulls/{issue.number}",
        "id": issue.pull.id,
        "number": issue.number,
        "head": {
            "ref": issue.pull.head_branch,
            "sha": head_sha(world, issue),
            "repo": home,
        },
        "base": {
            "ref": issue.pull.base_branch,
            "sha": base_sha(world, issue),
            "repo": home,
        },
    }


def _app(world: World, slug: str) -> Json:
    known = next((app for app in world.apps.values() if app.slug == slug), None)
    number = known.id if known else 15368
    now = instant(world.clock.now())
    return {
        "id": number,
        "slug": slug,
        "node_id": f"A_{number}",
        "owner": {
            **user_json(world, next(iter(world.users.values()))),
            "login": "github",
        },
        "name": slug,
        "description": None,
        "external_url": f"{world.web_url}/{slug}",
        "html_url": f"{world.web_url}/apps/{slug}",
        "created_at": now,
        "updated_at": now,
        "permissions": {},
        "events": [],
    }


def _head(repo: Repo, sha: str) -> Json:
    commit = commit_of(repo.git, sha)
    return {
        "id": commit.sha,
        "tree_id": commit.tree,
        "message": commit.message,
        "timestamp": commit.committer.date,
        "author": {"name": commit.author.name, "email": commit.author.email},
        "committer": {"name": commit.committer.name, "email": commit.committer.email},
    }
