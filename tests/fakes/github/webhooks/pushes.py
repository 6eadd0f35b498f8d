"""Tell of branches that were pushed, made or deleted."""

from tests.fakes.github import bare
from tests.fakes.github.comparison import GitCommit, commit_of
from tests.fakes.github.exchange import Json
from tests.fakes.github.render.repositories import repository_json
from tests.fakes.github.render.users import user_json
from tests.fakes.github.state import Repo, World
from tests.fakes.github.webhooks.outbox import tell

NO_COMMIT = "0" * 40


def tell_pushes(world: World, repo: Repo, actor: str) -> None:
    """Tell what became of the branches since this was last asked."""
    before = world.heads.get(repo.id, {})
    now = _list_branches(repo)
    world.heads[repo.id] = now
    for ref in sorted(before.keys() | now.keys()):
        old, new = before.get(ref, NO_COMMIT), now.get(ref, NO_COMMIT)
        if old != new:
            _tell(world, repo, actor, ref, (old, new))


def _tell(
    world: World, repo: Repo, actor: str, ref: str, move: tuple[str, str]
) -> None:
    tell(
        world, repo.full_name, "push", lambda: push_json(world, repo, actor, ref, move)
    )


def _list_branches(repo: Repo) -> dict[str, str]:
    listed = bare.git(
        repo.git, "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads"
    )
    lines = [line.partition(" ") for line in listed.decode().splitlines()]
    return {ref: sha for ref, _, sha in lines}


def push_json(
    world: World, repo: Repo, actor: str, ref: str, move: tuple[str, str]
) -> Json:
    """Return the body; `move` is the commit before and the one after."""
    before, after = move
    page = f"{world.web_url}/{repo.full_name}"
    is_gone = after == NO_COMMIT
    head = None if is_gone else commit_of(repo.git, after)
    shown = None if head is None else _commit(world, repo, head)
    return {
        "ref": ref,
        "before": before,
        "after": after,
        "created": before == NO_COMMIT,
        "deleted": is_gone,
        "forced": False,
        "base_ref": None,
        "compare": f"{page}/compare/{before[:12]}...{after[:12]}",
        "commits": [] if shown is None else [shown],
        "head_commit": shown,
        "repository": repository_json(world, repo),
        "pusher": {"name": actor, "email": f"{actor}@users.noreply.example"},
        "sender": user_json(world, world.user(actor)),
    }


def _commit(world: World, repo: Repo, commit: GitCommit) -> Json:
    return {
        "id": commit.sha,
        "tree_id": commit.tree,
        "distinct": True,
        "message": commit.message,
        "timestamp": commit.committer.date,
        "url": f"{world.web_url}/{repo.full_name}/commit/{commit.sha}",
        "author": {"name": commit.author.name, "email": commit.author.email},
        "committer": {"name": commit.committer.name, "email": commit.committer.email},
        "added": [],
        "removed": [],
        "modified": [],
    }
