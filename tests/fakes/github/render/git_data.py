"""Commits, branches and references as GitHub's JSON shows them."""

from tests.fakes.github.comparison import GitCommit, Signature
from tests.fakes.github.exchange import Json
from tests.fakes.github.render.repositories import api_path
from tests.fakes.github.state import Repo, World

UNVERIFIED = {
    "verified": False,
    "reason": "unsigned",
    "signature": None,
    "payload": None,
    "verified_at": None,
}


def commit_json(world: World, repo: Repo, commit: GitCommit) -> Json:
    """Return a commit whose authors have no account here."""
    base = api_path(world, repo.full_name)
    page = f"{world.web_url}/{repo.full_name}/commit"
    url = f"{base}/commits/{commit.sha}"
    return {
        "sha": commit.sha,
        "node_id": f"C_{commit.sha}",
        "url": url,
        "html_url": f"{page}/{commit.sha}",
        "comments_url": f"{url}/comments",
        "commit": _inner(base, commit),
        "author": None,
        "committer": None,
        "parents": [
            {
                "sha": sha,
                "url": f"{base}/commits/{sha}",
                "html_url": f"{page}/{sha}",
            }
            for sha in commit.parents
        ],
    }


def git_commit_json(
    world: World, repo: Repo, commit: GitCommit, *, signed: bool
) -> Json:
    """Return a commit as git has it, with nothing of what GitHub knows besides."""
    shown = commit_json(world, repo, commit)
    inner = shown["commit"]
    verified = {"verified": True, "reason": "valid", "verified_at": None}
    return {
        **{name: shown[name] for name in ("sha", "node_id", "html_url", "parents")},
        **{name: inner[name] for name in ("url", "author", "committer", "tree")},
        "message": inner["message"],
        "verification": {**UNVERIFIED, **(verified if signed else {})},
    }


def branch_json(world: World, repo: Repo, name: str, commit: GitCommit) -> Json:
    url = f"{api_path(world, repo.full_name)}/branches/{name}"
    protected = name in repo.protected
    return {
        "name": name,
        "commit": commit_json(world, repo, commit),
        "_links": {
            "self": url,
            "html": f"{world.web_url}/{repo.full_name}/tree/{name}",
        },
        "protected": protected,
        "protection": {"enabled": protected},
        "protection_url": f"{url}/protection",
    }


def ref_json(world: World, repo: Repo, ref: str, sha: str) -> Json:
    base = f"{api_path(world, repo.full_name)}/git"
    return {
        "ref": ref,
        "node_id": f"REF_{repo.id}_{ref}",
        "url": f"{base}/{ref}",
        "object": {"type": "commit", "sha": sha, "url": f"{base}/commits/{sha}"},
    }


def _inner(base: str, commit: GitCommit) -> Json:
    return {
        "url": f"{base}/git/commits/{commit.sha}",
        "author": _signature(commit.author),
        "committer": _signature(commit.committer),
        "message": commit.message,
        "tree": {"sha": commit.tree, "url": f"{base}/git/trees/{commit.tree}"},
        "comment_count": 0,
        "verification": UNVERIFIED,
    }


def _signature(signature: Signature) -> Json:
    return {
        "name": signature.name,
        "email": signature.email,
        "date": signature.date,
    }
