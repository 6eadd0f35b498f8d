"""GraphQL: a commit made and signed by GitHub itself."""

import base64

from tests.fakes.github import bare
from tests.fakes.github.access import WRITE_CONTENTS, forbidden, may, visible_repo
from tests.fakes.github.acts.pulls import follow_heads
from tests.fakes.github.acts.rules import check_archived, sign
from tests.fakes.github.auth import Caller, CallerKind
from tests.fakes.github.comparison import commit_of
from tests.fakes.github.exchange import Answer, Json, RefusedError, not_found
from tests.fakes.github.state import Repo, World


def create_commit(world: World, caller: Caller, asked: Json) -> Answer:
    """Commit plain files, whatever mode they had.

    https://docs.github.com/en/graphql/reference/mutations#createcommitonbranch
    """
    wanted = asked["variables"]["input"]
    target = wanted["branch"]
    repo = visible_repo(world, caller, target["repositoryNameWithOwner"])
    branch = target["branchName"].removeprefix("refs/heads/")
    if caller.user is None or not may(caller, repo, WRITE_CONTENTS):
        raise forbidden(caller)
    check_archived(world, repo)
    head = bare.find_commit(repo.git, f"refs/heads/{branch}")
    if head is None:
        raise not_found()
    if branch in repo.protected:
        raise RefusedError(422, f"Protected branch update failed for {branch}.")
    _check_workflows(caller, wanted)
    if head != wanted["expectedHeadOid"]:
        return _stale(wanted["expectedHeadOid"])
    sha = _commit(world, repo, branch, wanted, author=caller.user.login)
    follow_heads(world, repo, caller.user.login)
    tree = commit_of(repo.git, sha).tree
    made = {"commit": {"oid": sha, "tree": {"oid": tree}}}
    return Answer(status=200, body={"data": {"createCommitOnBranch": made}})


def _commit(world: World, repo: Repo, branch: str, wanted: Json, *, author: str) -> str:
    changes = wanted["fileChanges"]
    files: dict[str, bare.Content] = {one["path"]: None for one in changes["deletions"]}
    for one in changes["additions"]:
        files[one["path"]] = base64.b64decode(one["contents"], validate=True)
    words = (wanted["message"]["headline"], wanted["message"].get("body", ""))
    bare.commit(
        repo.git,
        branch,
        files,
        start=branch,
        message="\n\n".join(part for part in words if part),
        author=author,
        at=world.clock.now(),
    )
    return sign(repo, branch)


def _check_workflows(caller: Caller, wanted: Json) -> None:
    """Refuse what changes a workflow to whoever may not do that.

    https://docs.github.com/en/graphql/reference/mutations#createcommitonbranch
    """
    changes = wanted["fileChanges"]
    paths = [one["path"] for one in (*changes["additions"], *changes["deletions"])]
    path = next((one for one in paths if one.startswith(".github/workflows/")), None)
    is_let = caller.kind is CallerKind.PERSONAL or (
        caller.token is not None and "workflows" in caller.token.permissions
    )
    if path is not None and not is_let:
        raise RefusedError(
            403,
            "refusing to allow a GitHub App to create or update workflow "
            f"`{path}` without `workflows` permission",
        )


def _stale(expected: str) -> Answer:
    error = {
        "type": "STALE_DATA",
        "path": ["createCommitOnBranch"],
        "message": f'Expected branch to point to "{expected}" but it did not.  Pull '
        "and try again.",
    }
    data = {"createCommitOnBranch": None}
    return Answer(status=200, body={"data": data, "errors": [error]})


FIELDS = {"createCommitOnBranch": create_commit}
