"""Tell that somebody has set a status on a commit."""

from dataclasses import dataclass

from tests.fakes.github import bare
from tests.fakes.github.ci_state import Status
from tests.fakes.github.comparison import commit_of
from tests.fakes.github.exchange import Json
from tests.fakes.github.render.git_data import commit_json
from tests.fakes.github.render.repositories import api_path, repository_json
from tests.fakes.github.render.users import instant, user_json
from tests.fakes.github.state import Repo, World
from tests.fakes.github.webhooks.outbox import tell

MOST_BRANCHES = 10


@dataclass(frozen=True, kw_only=True)
class StatusSet:
    """A status that was set; `actor` is whose token that was done with."""

    status: Status
    actor: str


def send_status(world: World, told: StatusSet) -> None:
    tell(world, told.status.repo, "status", lambda: _payload(world, told))


def _payload(world: World, told: StatusSet) -> Json:
    status = told.status
    repo = world.repo(status.repo)
    at = instant(status.created_at)
    return {
        "id": status.id,
        "sha": status.sha,
        "name": repo.full_name,
        "avatar_url": None,
        "target_url": f"{world.web_url}/builds/{status.id}",
        "context": status.context,
        "description": status.description,
        "state": status.state,
        "commit": _commit(world, repo, status.sha),
        "branches": _branches(world, repo, status.sha),
        "created_at": at,
        "updated_at": at,
        "repository": repository_json(world, repo),
        "sender": user_json(world, world.user(told.actor)),
    }


def _commit(world: World, repo: Repo, sha: str) -> Json:
    """Show it as the schema of deliveries has it, which does not know `verified_at`."""
    shown = commit_json(world, repo, commit_of(repo.git, sha))
    inner = shown["commit"]
    verification = {**inner["verification"]}
    del verification["verified_at"]
    return {**shown, "commit": {**inner, "verification": verification}}


def _branches(world: World, repo: Repo, sha: str) -> list[Json]:
    """List branches that contain the commit, whether or not they end in it."""
    query = ("--contains", sha, f"--count={MOST_BRANCHES}")
    shown = "--format=%(objectname) %(refname:strip=2)"
    lines = bare.git(repo.git, "for-each-ref", *query, shown, "refs/heads").decode()
    found = (line.split(" ", 1) for line in lines.splitlines())
    commits = f"{api_path(world, repo.full_name)}/commits"
    return [
        {
            "name": name,
            "commit": {"sha": tip, "url": f"{commits}/{tip}"},
            "protected": name in repo.protected,
        }
        for tip, name in found
    ]
