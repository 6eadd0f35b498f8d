"""Have GitHub make and sign a commit.

https://docs.github.com/en/graphql/reference/mutations#createcommitonbranch
"""

import base64

from github import GithubException, UnknownObjectException
from github.GitRef import GitRef
from github.Repository import Repository
from pydantic import BaseModel, Field

from patchwright.core.forge import NewCommit
from patchwright.core.types.errors import (
    BranchMovedError,
    CommitDiffersError,
    InvalidRequestError,
    PatchwrightError,
    PermissionDeniedError,
    PushRefusedError,
    ServiceError,
)
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.github.client import GitHubClient

MUTATION = """\
mutation($input: CreateCommitOnBranchInput!) {
  createCommitOnBranch(input: $input) {
    commit { oid tree { oid } }
  }
}
"""


class _TreeId(BaseModel):
    oid: str


class _CreatedCommit(BaseModel):
    oid: str
    tree: _TreeId


class _CreatedAnswer(BaseModel):
    commit: _CreatedCommit


class _CreatedData(BaseModel):
    created: _CreatedAnswer = Field(alias="createCommitOnBranch")


class _CreatedResponse(BaseModel):
    data: _CreatedData


def commit_on_branch(
    api: GitHubClient, repo: RepoRef, branch: str, commit: NewCommit
) -> str:
    """Make the commit unless it is there, and see that it holds what it should.

    One that differs is taken back, with the branch if that was made for it. Raises
    BranchMovedError, CommitDiffersError, PushRefusedError or a ServiceError.
    """
    try:
        return api.ask(repo, lambda found: _commit(found, branch, commit))
    except (InvalidRequestError, PermissionDeniedError) as error:
        raise _map_refusal(error, branch) from error


def _map_refusal(error: ServiceError, branch: str) -> PatchwrightError:
    words = str(error)
    if "Expected branch to point to" in words:
        return _branch_moved_error(branch)
    if "rule violations" in words or "protected branch" in words.lower():
        return PushRefusedError(f"the remote refuses to update {branch}: {words}")
    return error


def _branch_moved_error(branch: str) -> BranchMovedError:
    return BranchMovedError(f"the branch {branch} has changed")


def _commit(repo: Repository, branch: str, commit: NewCommit) -> str:
    head = _find_head(repo, branch)
    if head is not None and head.object.sha != commit.base_sha:
        return _recognize_own_commit(repo, branch, head.object.sha, commit)
    if head is None:
        repo.create_git_ref(f"refs/heads/{branch}", commit.base_sha)
    back_to = None if head is None else commit.base_sha
    try:
        made = _create(repo, branch, commit)
    except GithubException:
        if head is None:
            _take_back(repo, branch, commit.base_sha, back_to)
        raise
    if made.tree.oid != commit.tree:
        _take_back(repo, branch, made.oid, back_to)
        raise CommitDiffersError(
            f"GitHub's commit on {branch} had other files than expected, and was "
            "removed"
        )
    return made.oid


def _find_head(repo: Repository, branch: str) -> GitRef | None:
    found = repo.get_git_ref(f"heads/{branch}")
    try:
        found.update()
    except UnknownObjectException:
        return None
    return found


def _recognize_own_commit(
    repo: Repository, branch: str, sha: str, commit: NewCommit
) -> str:
    """Return a commit that was made before, by a run whose answer got lost."""
    found = repo.get_git_commit(sha)
    parents = [parent.sha for parent in found.parents]
    if (found.tree.sha, parents) != (commit.tree, [commit.base_sha]):
        raise _branch_moved_error(branch)
    return sha


def _create(repo: Repository, branch: str, commit: NewCommit) -> _CreatedCommit:
    headline, _, body = commit.message.partition("\n")
    asked = {
        "branch": {"repositoryNameWithOwner": repo.full_name, "branchName": branch},
        "expectedHeadOid": commit.base_sha,
        "message": {"headline": headline, "body": body.strip()},
        "fileChanges": {
            "additions": [
                {
                    "path": change.path,
                    "contents": base64.b64encode(change.data).decode(),
                }
                for change in commit.changes
                if change.data is not None
            ],
            "deletions": [
                {"path": change.path}
                for change in commit.changes
                if change.data is None
            ],
        },
    }
    _, answer = repo.requester.graphql_query(MUTATION, {"input": asked})
    return _CreatedResponse.model_validate(answer).data.created.commit


def _take_back(repo: Repository, branch: str, made: str, back_to: str | None) -> None:
    """Undo what is ours: to the commit it came from, or the whole branch with None."""
    head = _find_head(repo, branch)
    if head is None or head.object.sha != made:
        return
    if back_to is None:
        head.delete()
    else:
        head.edit(back_to, force=True)
