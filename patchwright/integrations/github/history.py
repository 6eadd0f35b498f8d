"""Ask which branches and commits a repository has, without a checkout."""

from urllib.parse import quote

from pydantic import BaseModel

from patchwright.core.errors import InvalidRequestError, NotFoundError
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.github.api import GitHubClient
from patchwright.integrations.github.payloads import Text


class _CommitText(BaseModel):
    message: Text = ""


class _CommitAnswer(BaseModel):
    commit: _CommitText


def has_branch(api: GitHubClient, repo: RepoRef, branch: str) -> bool:
    name = quote(branch, safe="")
    try:
        api.ask(
            repo,
            lambda asked: asked.requester.requestJsonAndCheck(
                "GET", f"{asked.url}/branches/{name}"
            ),
        )
    except NotFoundError:
        return False
    return True


def fetch_commit_message(api: GitHubClient, repo: RepoRef, sha: str) -> str | None:
    """Return a commit's message; `sha` may be the beginning of its id.

    What is no commit, or of several the beginning, is answered as invalid.
    https://docs.github.com/en/rest/commits/commits#get-a-commit
    """
    try:
        _, answer = api.ask(
            repo,
            lambda asked: asked.requester.requestJsonAndCheck(
                "GET", f"{asked.url}/commits/{sha}"
            ),
        )
    except (NotFoundError, InvalidRequestError):
        return None
    return _CommitAnswer.model_validate(answer).commit.message
